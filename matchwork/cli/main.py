"""The program `matchwork`: commands, errors and exit codes."""

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import matchwork
from matchwork.cli import (
    analyse,
    data,
    demo,
    evaluate,
    explain,
    models,
    rank,
    results,
    score,
    serve,
    sweep,
    train,
)
from matchwork.cli.options import examples
from matchwork.errors import MatchworkError

DEBUG_VARIABLE = "MATCHWORK_DEBUG"
INTERRUPTED = 130  # exit code of a shell after Ctrl-C


class Commands(TyperGroup):
    """Turns errors into one paragraph on stderr and an exit code: 2 usage, 1 failure."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List commands by name, `demo` and `data` first."""
        return sorted(super().list_commands(ctx), key=lambda name: name not in ("demo", "data"))

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except MatchworkError as error:
            raise _failed(str(error), error.exit_code) from error
        except KeyboardInterrupt as interrupt:
            raise _failed("interrupted", INTERRUPTED) from interrupt
        except SystemExit as leaving:
            if isinstance(leaving.__context__, KeyboardInterrupt):  # Lightning leaves with 1
                raise _failed("interrupted", INTERRUPTED) from leaving
            raise


app = typer.Typer(
    name="matchwork",
    cls=Commands,
    help="Train, evaluate, explain and serve neural text matchers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "matchwork data list",
        "matchwork train recipes/wikiqa/iasm-dynamic.toml",
        "matchwork evaluate bm25 trecqa --split test",
        "matchwork rank MATCHER --query 'who wrote hamlet' --documents texts.txt",
        "matchwork COMMAND --help",
    ),
)
app.command("demo", epilog=demo.EXAMPLES)(demo.demo)
app.add_typer(data.app, name="data")
app.command("models", epilog=models.EXAMPLES)(models.models)
app.command("train", epilog=train.EXAMPLES)(train.train)
app.command("sweep", epilog=sweep.EXAMPLES)(sweep.sweep)
app.command("evaluate", epilog=evaluate.EXAMPLES)(evaluate.evaluate)
app.command("rank", epilog=rank.EXAMPLES)(rank.rank)
app.command("score", epilog=score.EXAMPLES)(score.score)
app.command("explain", epilog=explain.EXAMPLES)(explain.explain)
app.command("serve", epilog=serve.EXAMPLES)(serve.serve)
app.command("analyse", epilog=analyse.EXAMPLES)(analyse.analyse)
app.command("compare", epilog=results.COMPARE_EXAMPLES)(results.compare)
app.command("results", epilog=results.RESULTS_EXAMPLES)(results.results)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"matchwork {matchwork.__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", envvar=DEBUG_VARIABLE, help="Show the traceback of an error."),
    ] = False,
) -> None:
    """Train, evaluate, explain and serve neural text matchers."""
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"


def run() -> None:
    """Run the program; the entry point of the installed script."""
    try:
        try:
            app(prog_name="matchwork")
        finally:
            sys.stdout.flush()  # here, where a closed pipe is still handled
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        message = (
            f"{type(error).__name__}: {error}\nThis is a fault of matchwork, not yours: "
            f"please report it with the output of matchwork --debug {' '.join(sys.argv[1:2])} …"
        )
        sys.exit(_failed(message, 1).exit_code)


def _failed(message: str, exit_code: int) -> typer.Exit:
    from matchwork.cli import show

    if os.environ.get(DEBUG_VARIABLE, "") not in ("", "0"):
        show.err().print_exception()
    show.error(message)
    return typer.Exit(exit_code)
