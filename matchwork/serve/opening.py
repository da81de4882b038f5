"""From what a command names to scorers: `FOLDER`, `NAME=FOLDER`, `bm25`, `minilm-maxsim`."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from matchwork.errors import ConfigError, DataError
from matchwork.files import read_json

if TYPE_CHECKING:
    from matchwork.matcher import Matcher
    from matchwork.matcher.precision import Precision
    from matchwork.serve.served import Served

BM25_NAME = "bm25"
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
    from matchwork.rank import BM25
    from matchwork.serve.candidates import CandidateBM25
    from matchwork.serve.served import Served

    if source.place.lower() == BM25_NAME and not Path(source.place).is_dir():
        return Served(source.name, CandidateBM25())
    if _is_bm25_folder(Path(source.place)):
        return Served(source.name, BM25.load(source.place))
    served = Served(source.name, _open_matcher(source, device, precision))
    try:
        served.score([[("a", "b")]], lambda: True)
    except (RuntimeError, DataError) as error:
        raise ConfigError(
            f"{source.place} cannot score on {device} with precision {precision}: {error}; "
            "try --precision 32 or another device"
        ) from error
    return served


def _is_bm25_folder(folder: Path) -> bool:
    try:
        return bool(read_json(folder / "config.json").get("model") == BM25_NAME)
    except (DataError, AttributeError):
        return False


def _open_matcher(source: Source, device: str, precision: "Precision") -> "Matcher":
    import torch

    from matchwork.matcher import Matcher

    matcher = Matcher.pretrained(source.place)
    if precision == "int8" and not matcher.is_transformer:
        # The option is for all that are served, and those beside it may well be transformers.
        LOGGER.warning("model %r keeps its 32 bits: int8 is for transformers", source.name)
        precision = "32"
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() and precision != "int8" else "cpu"
    try:
        return matcher.to(device, precision=precision)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"no device {device!r}: {error}; try --device cpu") from error
