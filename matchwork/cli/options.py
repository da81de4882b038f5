"""Options of several commands, and the parsing of their values."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from matchwork.errors import ConfigError

if TYPE_CHECKING:
    from matchwork.data import Columns

Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON, and nothing else on stdout.")
]
DataRoot: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--data-root",
        envvar="MATCHWORK_DATA",
        help="Folder that holds the catalogued data sets.",
        show_default=False,
    ),
]
ColumnNames: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="OURS=THEIRS,…",
        help="Column names of your own pair file: query=question,document=answer. "
        "Ours are query, document, label, query_id, document_id.",
        show_default=False,
    ),
]
DataOptions: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="An option of the data set, such as pool=full; may be repeated.",
        show_default=False,
    ),
]
Measures: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--measures",
        metavar="NAME,…",
        help="Such as AP,RR@10,nDCG@10,P@1 or Accuracy,F1.",
        show_default="those of the data set, or AP,RR",
    ),
]
Protocol: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        help="Which queries count and how ties fall: raw, has-positive, clean or trec-eval.",
        show_default="that of the data set, or raw",
    ),
]
Depth: TypeAlias = Annotated[
    int,
    typer.Option(
        min=0, help="Without candidates: number of BM25's best to rank (0: all documents)."
    ),
]
Precision: TypeAlias = Annotated[
    Literal["32", "bf16", "int8"],
    typer.Option(help="Precision of scoring: int8 on a CPU, bf16 on a GPU."),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result only.")]
Changes: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SECTION.KEY=VALUE",
        help="Change one setting of the recipe; may be repeated.",
        show_default=False,
    ),
]
DATASET_HELP = "A name from [bold]matchwork data list[/], or a pair file or folder of your own."
OPENED_HELP = "Folder of a saved matcher, or one without training such as minilm-maxsim."
MATCHER_HELP = OPENED_HELP.removesuffix(".") + "; or [bold]bm25[/]."


def listed(text: str | None) -> list[str] | None:
    """Return the parts of `a,b,c`, None for None."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def pairs(values: Sequence[str], flag: str) -> dict[str, str]:
    """Parse `key=value` words of an option."""
    table: dict[str, str] = {}
    for value in values:
        key, equals, rest = value.partition("=")
        if not equals or not key.strip() or not rest.strip():
            raise ConfigError(f"{flag} takes key=value, got {value!r}")
        table[key.strip()] = rest.strip()
    return table


def columns(text: str | None) -> "Columns | None":
    """Parse `--columns`."""
    if text is None:
        return None
    from matchwork.config import build
    from matchwork.data import Columns

    return build(Columns, pairs(listed(text) or [], "--columns"), "--columns")


def data_options(values: Sequence[str] | None) -> Mapping[str, str | bool]:
    """Parse `--option`; `true` and `false` become booleans."""
    switches = {"true": True, "false": False}
    given = pairs(values or [], "--option")
    return {key: switches.get(value.lower(), value) for key, value in given.items()}


def examples(*lines: str) -> str:
    """Return the examples at the end of a help page."""
    return "\n".join(["[bold]Examples[/]", *(f"  [cyan]{line}[/]" for line in lines)])
