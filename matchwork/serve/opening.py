"""Open what `matchwork serve` names: FOLDER, NAME=FOLDER, bm25, minilm-maxsim."""

import logging
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from matchwork.errors import ConfigError, DataError

if TYPE_CHECKING:
    from matchwork.matcher.precision import Precision
    from matchwork.serve.served import Served

LOGGER = logging.getLogger("matchwork.serve")


class Source(NamedTuple):
    """A model to open: the name for clients, and what `matchwork.load` opens."""

    name: str
    model: str


def parse_source(text: str) -> Source:
    """Parse `NAME=MODEL` or `MODEL`; a folder without a name is named after itself."""
    name, equals, model = text.partition("=")
    if equals and not Path(text).exists():
        if not name or not model:
            raise ConfigError(f"a model to serve is FOLDER or NAME=FOLDER, got {text!r}")
        return Source(name, model)
    folder = Path(text)
    return Source(folder.resolve().name if folder.is_dir() else text, text)


def open_source(source: Source, device: str = "auto", precision: "Precision" = "32") -> "Served":
    """Open a model and score a pair with it, so that what cannot work fails at the start.

    With precision int8, models other than transformers stay at 32.
    """
    from matchwork.matcher import Matcher, load
    from matchwork.serve.served import Served

    scorer = load(source.model, device=None if device == "auto" else device)
    if isinstance(scorer, Matcher) and precision == "int8" and not scorer.is_transformer:
        LOGGER.warning("model %r keeps its 32 bits: int8 is for transformers", source.name)
    elif isinstance(scorer, Matcher) and precision != "32":
        scorer.to("cpu" if device == "auto" and precision == "int8" else None, precision=precision)
    served = Served(source.name, scorer)
    try:
        served.score([[("a", "b")]], Event())
    except (RuntimeError, DataError) as error:
        raise ConfigError(
            f"{source.model} cannot score on {device} with precision {precision}: {error}; "
            "try --precision 32 or another device"
        ) from error
    return served
