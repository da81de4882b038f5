"""`matchwork train`: recipes in, matchers, runs and results out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from matchwork.cli import show
from matchwork.cli.options import Changes, DataRoot, Json, Quiet, examples, listed
from matchwork.errors import ConfigError, TrainingError
from matchwork.report.numbers import interval, p_value

if TYPE_CHECKING:
    from matchwork.experiment import Recipe

EXAMPLES = examples(
    "matchwork train recipes/wikiqa/iasm-dynamic.toml",
    "matchwork train recipes/wikiqa/iasm-dynamic.toml --set train.learning_rate=3e-4 --seeds 1,2,3",
    "matchwork train recipes/wikiqa/iasm-dynamic.toml --resume",
    "matchwork train recipes/wikiqa/iasm-dynamic.toml --jobs 5",
    "matchwork train recipes/wikiqa/iasm-*.toml --jobs 4 --resume",
    "matchwork train recipes/wikiqa/iasm-static.toml --show",
)


def train(
    recipes: Annotated[
        list[Path],
        typer.Argument(metavar="RECIPE.toml", help="Recipes to train, as one queue of seeds."),
    ],
    settings: Changes = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for matchers, run files and checkpoints; with several recipes, each has "
            "its own folder DATASET/RECIPE in it.",
            show_default="runs/DATASET/RECIPE",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted run where it stopped.")
    ] = False,
    devices: Annotated[
        int | None,
        typer.Option(min=1, help="Number of GPUs or processes.", show_default="that of the recipe"),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(min=1, help="Number of seeds to train in parallel, each in its own process."),
    ] = 1,
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="1,2,3", help="Seeds to train with.", show_default="those of the recipe"
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            help="Folder that also receives the result as JSON.",
            show_default="results; none when --set, --devices or --seeds changed the recipe",
        ),
    ] = None,
    resolved: Annotated[
        bool,
        typer.Option("--show", help="Print every setting of the recipe without training."),
    ] = False,
    data_root: DataRoot = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train a matcher from each recipe, measure it on test and compare it with BM25."""
    overrides = _overrides(settings, devices, seeds)
    with show.working("checking the recipe"):
        from matchwork.cli.progress import Watcher
        from matchwork.experiment import load_recipe, run_recipe

        plans = [load_recipe(recipe, overrides, data_root) for recipe in recipes]
    if resolved:
        _print_settings(plans, json)
        return
    copies = results or (None if overrides else Path("results"))
    options: dict[str, Any] = {
        "data_root": data_root,
        "results": copies,
        "resume": resume,
        "jobs": jobs,
    }
    if len(plans) > 1:
        _train_several(plans, out or Path("runs"), options, quiet, json)
        return
    (plan,) = plans
    folder = out or Path("runs", plan.dataset_folder, plan.name)
    with Watcher(quiet or json) as watcher:
        result = run_recipe(plan, folder, observer=watcher, **options)
    if json:
        show.as_json(result)
    else:
        _print_result(result)
        _print_paths(plan, folder, copies)


def _print_settings(plans: Sequence["Recipe"], json: bool) -> None:
    """Print the settings of recipes as TOML or JSON, bases and defaults filled in."""
    from matchwork.experiment.recipe.files import to_toml

    if json:
        show.as_json(plans[0].to_dict() if len(plans) == 1 else [one.to_dict() for one in plans])
        return
    for plan in plans:
        show.line(f"# {plan.name}\n{to_toml(plan.to_dict())}")


def _train_several(
    plans: Sequence["Recipe"], out: Path, options: Mapping[str, Any], quiet: bool, json: bool
) -> None:
    """Train recipes as one queue of seeds; name those that failed at the end."""
    from matchwork.cli.progress import Watcher
    from matchwork.experiment import run_recipes

    with Watcher(quiet or json) as watcher:
        made, errors = run_recipes(plans, out, observer=watcher, **options)
    if json:
        show.as_json({"results": made, "failed": errors})
    else:
        for result in made:
            _print_result(result)
        for label, message in errors.items():
            show.line(f"failed   {label}: {message}")
        show.line(f"results  {out}/DATASET/RECIPE/result.json")
        if options["results"] is not None:
            path = f"{options['results']}/DATASET/RECIPE.json"
            show.line(f"         {path}; matchwork results shows all of them")
    if errors:
        raise TrainingError(
            f"{len(errors)} of {len(plans)} recipes failed; the same command with --resume tries "
            "them again. If you change a recipe, delete its folder first"
        )


def _overrides(settings: list[str] | None, devices: int | None, seeds: str | None) -> list[str]:
    """Return the options that change a recipe as `section.key=value`."""
    overrides = list(settings or [])
    if devices is not None:
        overrides.append(f"train.devices={devices}")
    if seeds is not None:
        numbers = listed(seeds)
        if not numbers or not all(number.isdigit() for number in numbers):
            raise ConfigError(f"--seeds takes whole numbers such as 1,2,3, got {seeds!r}")
        overrides.append(f"run.seeds=[{', '.join(numbers)}]")
    return overrides


def _print_result(result: Mapping[str, Any]) -> None:
    """Print a table for each condition, with every measure of every system."""
    from matchwork.experiment.results import by_condition

    for name, condition in by_condition(result).items():
        _print_condition(condition, f", {name}" if name else "")


def _print_condition(result: Mapping[str, Any], name: str) -> None:
    from matchwork.experiment.results import in_words

    systems = {
        "BM25": result["systems"]["BM25"],
        result["model"]: result["measures"],
        **result["systems"],
    }
    rows = [
        [
            measure,
            name,
            _mean(values[measure]),
            interval(*values[measure]["ci"]),
            None if "p_holm" not in values[measure] else p_value(values[measure]["p_holm"]),
            values[measure]["paper"],
        ]
        for measure in result["measures"]
        for name, values in systems.items()
    ]
    header = ["measure", "system", "mean", "95 % interval", "p", "paper"]
    if all(row[-1] is None for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    show.table(
        header,
        rows,
        title=f"{result['recipe']} on {result['dataset']} ({result['split']}{name})",
        note=f"{result['num_queries']:,} queries{in_words(result)}, protocol {result['protocol']} "
        f"({result['num_dropped']:,} dropped), {len(result['seeds'])} seed(s), "
        f"{result['num_ties']:,} tied documents, {result['wall_seconds']:.0f} s; "
        "p: against BM25, Holm-corrected",
    )


def _mean(value: Mapping[str, Any]) -> str:
    return f"{value['mean']:.4f}" + (f" ± {value['std']:.4f}" if value["std"] else "")


def _print_paths(plan: "Recipe", folder: Path, copies: Path | None) -> None:
    seed = folder / f"seed-{plan.run.seeds[0]}"
    show.line(f"matcher  {seed / 'matcher'}")
    show.line(f"run      {seed / 'test.run'}")
    for name in plan.also:
        show.line(f"         {seed / f'test.{name}.run'}")
    show.line(f"result   {folder / 'result.json'}")
    if copies is not None:
        show.line(f"         {copies / plan.dataset_folder / plan.name}.json")
    show.line()
    show.line("Next:")
    show.line(f"  matchwork rank {seed / 'matcher'} --query TEXT --documents FILE")
    show.line(f"  matchwork explain {seed / 'matcher'} --query TEXT --document TEXT")
    show.line(f"  matchwork evaluate {seed / 'matcher'} {plan.data.name} --report report.html")
