"""Options that several commands share, and parsers of their values."""

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
        help="Names of the columns in a pair file of your own: query=question,document=answer. "
        "The columns are query, document, label, query_id, document_id.",
        show_default=False,
    ),
]
DataOptions: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="Option of the data set, such as pool=full; may be repeated.",
        show_default=False,
    ),
]
Measures: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--measures",
        metavar="NAME,…",
        help="Measures, such as AP,RR@10,nDCG@10,P@1 or Accuracy,F1.",
        show_default="those of the data set, or AP,RR",
    ),
]
Protocol: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        help="Queries that count: raw, has-positive or clean.",
        show_default="that of the data set, or raw",
    ),
]
Depth: TypeAlias = Annotated[
    int,
    typer.Option(
        min=0, help="Without candidates: number of BM25's best documents to rank (0: all)."
    ),
]
Precision: TypeAlias = Annotated[
    Literal["32", "bf16", "int8"],
    typer.Option(help="Score with fewer bits: int8 on a CPU, bf16 on a GPU."),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")]
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
    """Return the parts of `a,b,c`; None for None."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def pairs(values: Sequence[str], flag: str) -> dict[str, str]:
    """Parse `key=value` words into a table; `flag` names the option in errors."""
    table: dict[str, str] = {}
    for value in values:
        key, equals, rest = value.partition("=")
        if not equals or not key.strip() or not rest.strip():
            raise ConfigError(f"{flag} takes key=value, got {value!r}")
        table[key.strip()] = rest.strip()
    return table


def read_columns(text: str | None) -> "Columns | None":
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
    """Return the end of a help page: commands to copy."""
    return "\n".join(["[bold]Examples[/]", *(f"  [cyan]{line}[/]" for line in lines)])
