"""Resolve a name or path: a matcher, BM25 or a model of another library.

Nothing in a folder is run: weights are safetensors, and pickles are refused.
"""

import re
from os.path import isdir
from pathlib import Path
from typing import Any

from matchwork.encode.model_folder import PACKAGED, model_folder
from matchwork.errors import ConfigError, DataError, FolderError
from matchwork.files import read_json
from matchwork.matcher import folder as matcher_folder
from matchwork.matcher.folder import MatcherParts
from matchwork.matcher.foreign_models import (
    COSINE,
    MAXSIM,
    is_cross_encoder,
    read_bi_encoder,
    read_cosine,
    read_cross_encoder,
    read_maxsim,
)
from matchwork.rank.bm25 import BM25

_CONFIG = "config.json"
_HUB_NAME = re.compile(r"[\w][\w.-]*/[\w][\w.-]*")


def read_source(name: str | Path) -> MatcherParts | BM25:
    """Read what `matchwork.load` opens; see there."""
    if str(name) in ("", MAXSIM, COSINE):
        raise ConfigError("name a folder or a model, such as 'minilm-maxsim'")
    text = str(name)
    if isdir(name):
        return _read_folder(Path(name), text)
    if text.endswith((MAXSIM, COSINE)):
        base = text.removesuffix(MAXSIM).removesuffix(COSINE)
        _require_source(base, bare_names=True)
        return read_cosine(base, text) if text.endswith(COSINE) else read_maxsim(base, text)
    _require_source(name)
    return _read_folder(model_folder(name), text)


def _require_source(name: str | Path, bare_names: bool = False) -> None:
    """Refuse a mistyped path, so that it is never looked up on the hub.

    Names on the hub are OWNER/NAME, or NAME alone for a few old transformers (`bare_names`).
    """
    text = str(name)
    if isdir(name) or text in PACKAGED:
        return
    if isinstance(name, str):
        owner = text.partition("/")[0]
        if _HUB_NAME.fullmatch(text) and not isdir(owner):
            return
        if bare_names and _HUB_NAME.fullmatch(f"x/{text}"):
            return
    reason = "it is a file" if Path(text).is_file() else "no such folder"
    raise FolderError(
        f"{text}: {reason}; a matcher is a folder with {_CONFIG} in it, a name such as "
        "minilm-maxsim, or OWNER/NAME on the Hugging Face hub"
    )


def _read_folder(folder: Path, name: str) -> MatcherParts | BM25:
    settings = _settings(folder)
    if settings.get("model") == "bm25":
        return BM25.load(folder)
    if "format" in settings:
        return matcher_folder.load(folder)
    if is_cross_encoder(settings):
        return read_cross_encoder(folder, name)
    if (folder / "modules.json").is_file():
        return read_bi_encoder(folder, name)
    if "model_type" not in settings:
        raise FolderError(f"{folder / _CONFIG}: no format number; this is not a matcher")
    raise DataError(
        f"a transformer alone is no matcher; say how it compares texts with {name}{MAXSIM} or "
        f'{name}{COSINE}, or train one from it (vectors.source = "transformer")',
        path=folder,
    )


def _settings(folder: Path) -> dict[str, Any]:
    path = folder / _CONFIG
    if not path.is_file():
        if (folder / "modules.json").is_file():
            return {}
        raise FolderError(
            f"{folder}: not a matcher, {_CONFIG} is missing; copy the whole folder again"
        )
    try:
        settings = read_json(path)
    except DataError as error:
        raise FolderError(f"{error}; the folder is damaged, save it again") from error
    if not isinstance(settings, dict):
        raise FolderError(f"{path}: not a table but a {type(settings).__name__}; save it again")
    return settings
