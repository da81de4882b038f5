"""From what a command names to scorers: `FOLDER`, `NAME=FOLDER`, `bm25`, `minilm-maxsim`."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from matchwork.errors import ConfigError, DataError

if TYPE_CHECKING:
    from matchwork.matcher.precision import Precision
    from matchwork.serve.served import Served
    from matchwork.types import Scorer

LOGGER = logging.getLogger("matchwork.serve")


class Source(NamedTuple):
    """What to open and the name that clients use for it."""

    name: str
    place: str


def parse_source(text: str) -> Source:
    """`NAME=PLACE`, or a place that is named after its folder."""
    name, equals, place = text.partition("=")
    if equals and not Path(text).exists():
        if not name or not place:
            raise ConfigError(f"a model to serve is FOLDER or NAME=FOLDER, got {text!r}")
        return Source(name, place)
    folder = Path(text)
    return Source(folder.resolve().name if folder.is_dir() else text, text)


def open_source(source: Source, device: str = "auto", precision: "Precision" = "32") -> "Served":
    """Load a scorer and try it once, so that what cannot work is known before any request."""
    from matchwork.rank.candidate_bm25 import CandidateBM25, is_bm25
    from matchwork.serve.served import Served

    if is_bm25(source.place):
        return Served(source.name, CandidateBM25())
    served = Served(source.name, _open_scorer(source, device, precision))
    try:
        served.score([[("a", "b")]], lambda: True)
    except (RuntimeError, DataError) as error:
        raise ConfigError(
            f"{source.place} cannot score on {device} with precision {precision}: {error}; "
            "try --precision 32 or another device"
        ) from error
    return served


def _open_scorer(source: Source, device: str, precision: "Precision") -> "Scorer":
    from matchwork.matcher import Matcher, load

    chosen = None if device == "auto" else device
    if precision != "int8":
        return load(source.place, device=chosen, precision=precision)
    scorer = load(source.place, device=chosen or "cpu")
    if isinstance(scorer, Matcher) and scorer.is_transformer:
        return scorer.to(precision=precision)
    if isinstance(scorer, Matcher):
        # The option is for all that are served, and those beside it may well be transformers.
        LOGGER.warning("model %r keeps its 32 bits: int8 is for transformers", source.name)
    return scorer
