"""`matchwork sweep`: train a recipe with many settings; a table and charts of the results."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from matchwork.cli import show
from matchwork.cli.options import Changes, DataRoot, Json, Quiet, examples
from matchwork.errors import ConfigError, TrainingError

EXAMPLES = examples(
    "matchwork sweep recipes/sweeps/trecqa-hcan-layers-deep.toml --jobs 6",
    "matchwork sweep recipes/sweeps/trecqa-hcan-layers-deep.toml --resume",
    "matchwork sweep recipes/sweeps/trecqa-hcan-layers-deep.toml --only model.name=hcan",
    "matchwork sweep --draw results/sweeps/trecqa-hcan-layers-deep.json",
)


def sweep(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="SWEEP.toml", help="Sweep to run.", show_default=False),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SECTION.KEY=VALUE",
            help="Run only combinations with this value; may be repeated.",
            show_default=False,
        ),
    ] = None,
    settings: Changes = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for matchers, run files and checkpoints.", show_default="runs/sweeps/SWEEP"
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Train only what has no result yet.")
    ] = False,
    jobs: Annotated[
        int,
        typer.Option(
            min=1,
            help="Number of seeds to train in parallel, each in its own process.",
        ),
    ] = 1,
    results: Annotated[
        Path | None,
        typer.Option(
            help="Folder that receives the result and its charts, under sweeps.",
            show_default="results; that of --out if --set changes the sweep",
        ),
    ] = None,
    draw: Annotated[
        Path | None,
        typer.Option(
            metavar="RESULT.json",
            help="Draw this result again without training.",
            show_default=False,
        ),
    ] = None,
    data_root: DataRoot = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train a recipe with every combination of some settings, and chart the results."""
    if (file is None) == (draw is None):
        raise ConfigError("name a sweep to run, or a result to --draw")
    if draw is not None:
        _draw(draw, json)
        return
    with show.working("checking every combination"):
        from matchwork.cli.progress import Watcher
        from matchwork.experiment.results import SWEEPS
        from matchwork.experiment.runner import run_sweep
        from matchwork.experiment.sweep import load_sweep

        assert file is not None
        plan = load_sweep(file, settings or [], data_root)
        wanted = plan.only(only or [])
    with Watcher(quiet or json, "combinations") as watcher:
        path, result = run_sweep(
            plan,
            out or Path("runs", SWEEPS, plan.name),
            wanted=wanted,
            data_root=data_root,
            results=results or (None if settings else Path("results")),
            resume=resume,
            jobs=jobs,
            observer=watcher,
        )
    if json:
        show.as_json(result)
    else:
        _print(result)
        _print_paths([path, path.with_suffix(".svg"), path.with_suffix(".html")])
    if any(one["error"] for one in result["missing"]):
        raise TrainingError(
            f"{sum(bool(one['error']) for one in result['missing'])} of {len(wanted)} combinations "
            "failed; the same command with --resume tries them again"
        )


def _draw(path: Path, json: bool) -> None:
    with show.working("drawing"):
        from matchwork.experiment.sweep.charts import draw_sweep
        from matchwork.experiment.sweep.result import read_sweep_result

        drawn = draw_sweep(path)
        result = read_sweep_result(path)
    if json:
        show.as_json(result)
        return
    _print(result)
    _print_paths(drawn)


def _print(result: Mapping[str, Any]) -> None:
    from matchwork.experiment.sweep.result import missing_lines, sweep_table

    table = sweep_table(result)
    show.table(table.header, table.rows, title=f"sweep {result['sweep']}", note=table.caption)
    for line in missing_lines(result):
        show.line(f"missing  {line}")


def _print_paths(paths: list[Path]) -> None:
    for path in paths:
        if path.exists():
            show.line(f"written  {path}")
