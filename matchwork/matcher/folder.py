"""A matcher on disk: JSON, safetensors and a model card. Opening one runs none of its code.

`config.json` names the model, its settings, the modules outside matchwork that define it and
every other file; `model.safetensors` holds the weights, `tokenizer.json` the vocabulary and
`calibration.json` the map from scores to probabilities; `README.md` is for people.
"""

import json
import sys
from dataclasses import KW_ONLY, dataclass
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

from matchwork.config import build, to_table
from matchwork.encode import ENCODERS
from matchwork.errors import ConfigError, DataError, FolderError, OutputError, UnknownNameError
from matchwork.files import atomic_folder, read_json, write_json, write_text
from matchwork.models import MODELS, Model, ModelConfig
from matchwork.plugins import import_plugins, load_entry_points
from matchwork.rank.calibration import AnyCalibration, calibration_from_table, calibration_to_table
from matchwork.text.tokenizer import TOKENIZERS, Tokenizer
from matchwork.version import VERSION

FORMAT = 2
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
CALIBRATION, CARD = "calibration.json", "README.md"
OWN_FILES = {CONFIG, WEIGHTS, TOKENIZER, CALIBRATION, CARD}


@dataclass(eq=False)
class MatcherParts:
    """A tokenizer, a model and how they are used.

    Attributes:
        tokenizer: Splits texts into tokens.
        model: Scores tokenised pairs.
        name: The name in tables and run files; "" stands for the model's registered name.
        calibration: Maps scores to probabilities; None: the matcher gives none.
        max_query_length: Most tokens of a query that are read; None: any number.
        max_document_length: Most tokens of a document that are read; None: any number.
        max_pair_length: Most subword tokens of both texts together, for a cross-encoder.
        score_activation: Path in torch.nn of the activation that the authors of a foreign
            cross-encoder put on its logits.
    """

    tokenizer: Tokenizer
    model: Model
    _: KW_ONLY
    name: str = ""
    calibration: AnyCalibration | None = None
    max_query_length: int | None = None
    max_document_length: int | None = None
    max_pair_length: int | None = None
    score_activation: str | None = None

    def __post_init__(self) -> None:
        """Fill in the name, and lower length limits to what the model can read."""
        expected = getattr(self.model.encoder.config, "vocab_size", self.tokenizer.vocab_size)
        if expected != self.tokenizer.vocab_size:  # it would score nonsense, silently
            raise ConfigError(
                f"the tokenizer knows {self.tokenizer.vocab_size} words, the encoder {expected}; "
                "make the encoder from the tokenizer's vocabulary"
            )
        self.name = self.name or registered_name(self.model) or type(self.model).__name__
        self.max_query_length, self.max_document_length = length_limits(
            self.model.config, self.max_query_length, self.max_document_length
        )


def length_limits(
    config: ModelConfig, query: int | None = None, document: int | None = None
) -> tuple[int | None, int | None]:
    """Return the most tokens of a query and of a document: the wanted or the model's limit."""
    sides = (query, config.max_query_length), (document, config.max_document_length)
    query_limit, document_limit = (min(filter(None, limits), default=None) for limits in sides)
    return query_limit, document_limit


def registered_name(model: Model) -> str | None:
    """Return the registered name of a model's class and preset; of several, the most specific."""
    settings = to_table(model.config)
    fitting = [
        name
        for name in MODELS
        if type(model) is MODELS[name].model and MODELS[name].preset.items() <= settings.items()
    ]
    return max(fitting, key=lambda name: len(MODELS[name].preset), default=None)


def save(parts: MatcherParts, path: str | Path, card: str | None = None) -> None:
    """Write a matcher folder, see `Matcher.save`; an interrupted save leaves the old one."""
    from safetensors import SafetensorError

    try:
        with atomic_folder(path, OWN_FILES) as folder:
            _write(parts, folder, card)
    except SafetensorError as error:
        raise OutputError(
            f"cannot write {path}: {error}; check free space. Nothing was left half-written."
        ) from error


def _write(parts: MatcherParts, folder: Path, card: str | None) -> None:
    from safetensors.torch import save_file

    model, encoder = parts.model, parts.model.encoder
    name = registered_name(model)
    if name is None:
        raise ConfigError(
            f"{type(model).__name__} is not registered; "
            "decorate it with @register('name') to save it"
        )
    files = [WEIGHTS, TOKENIZER]
    save_file(
        {k: v.detach().cpu().contiguous() for k, v in model.state_dict().items()}, folder / WEIGHTS
    )
    write_json(folder / TOKENIZER, parts.tokenizer.to_dict())
    if parts.calibration is not None:
        write_json(folder / CALIBRATION, calibration_to_table(parts.calibration))
        files.append(CALIBRATION)
    write_json(
        folder / CONFIG,
        {
            "format": FORMAT,
            "matchwork": VERSION,
            "name": parts.name,
            "import": _foreign_modules(model, encoder, parts.tokenizer),
            "model": {"name": name, "config": to_table(model.config)},
            "encoder": {"kind": encoder.kind, "config": to_table(encoder.config)},
            "max_query_length": parts.max_query_length,
            "max_document_length": parts.max_document_length,
            "max_pair_length": parts.max_pair_length,
            "score_activation": parts.score_activation,
            "files": files,
        },
    )
    write_text(folder / CARD, card or _default_card(parts, name))


def _foreign_modules(*objects: object) -> list[str]:
    """Modules outside matchwork that registered the classes of these objects."""
    modules = {type(each).__module__: None for each in objects}
    return [name for name in modules if name.partition(".")[0] != "matchwork"]


def load(path: str | Path) -> MatcherParts:
    """Read a matcher folder."""
    from safetensors import SafetensorError

    folder = Path(path)
    config = _read_config(folder)
    foreign = [str(name) for name in config.get("import", [])]
    _import_modules(foreign, folder)
    try:
        return _read_parts(folder, config)
    except UnknownNameError as error:
        if not foreign:
            raise
        raise FolderError(
            f"{folder}: {error}. The matcher was saved with classes of {', '.join(foreign)}; "
            "import what defines them before opening the folder"
        ) from error
    except SafetensorError as error:
        raise FolderError(f"{folder}: weights are damaged or cut short ({error})") from error
    except (
        DataError,
        KeyError,
        TypeError,
        ValueError,
        AssertionError,
        RuntimeError,
        OSError,
    ) as error:
        reason = f"no entry {error}" if isinstance(error, KeyError) else str(error)
        raise FolderError(f"{folder}: the matcher is damaged: {reason}; save it again") from error


def _import_modules(modules: list[str], folder: Path) -> None:
    """Import modules of installed packages only: a folder cannot make us run its code."""
    for name in modules:
        load_entry_points()
        if name in sys.modules:
            continue
        parts = name.split(".")
        if "__main__" in parts or parts[0] not in packages_distributions():
            raise FolderError(
                f"{folder}: the matcher needs the module {name!r}, which no installed package "
                "provides; pip install the package, or import the module before opening the folder"
            )
        import_plugins([name], f"{folder}")


def _read_parts(folder: Path, config: dict[str, Any]) -> MatcherParts:
    from safetensors.torch import load_file

    tokenizer_table = read_json(folder / TOKENIZER)
    entry, encoder_class = MODELS[config["model"]["name"]], ENCODERS[config["encoder"]["kind"]]
    settings = build(encoder_class.Config, config["encoder"]["config"], f"{folder / CONFIG}")
    model_config = entry.config(config["model"]["config"], f"{folder / CONFIG}")
    model = entry.model(model_config, encoder_class(settings))
    # Copied, since in a file weights start anywhere, and where they start in memory decides
    # the last bit of some products; assigned, to keep the precision that was saved.
    weights = {name: part.clone() for name, part in load_file(folder / WEIGHTS).items()}
    model.load_state_dict(weights, strict=True, assign=True)
    calibration = None
    if CALIBRATION in config["files"]:
        calibration = calibration_from_table(read_json(folder / CALIBRATION), CALIBRATION)
    return MatcherParts(
        tokenizer=TOKENIZERS[tokenizer_table["kind"]].from_dict(tokenizer_table),
        model=model,
        name=config["name"],
        calibration=calibration,
        max_query_length=config["max_query_length"],
        max_document_length=config["max_document_length"],
        max_pair_length=config["max_pair_length"],
        score_activation=config["score_activation"],
    )


def _read_config(folder: Path) -> dict[str, Any]:
    config = read_json(folder / CONFIG)
    if not isinstance(config, dict) or type(config.get("format")) is not int:
        raise FolderError(f"{folder / CONFIG}: no format number; this is not a matcher")
    number, writer = config["format"], f"matchwork {config.get('matchwork')}"
    if number > FORMAT:
        raise FolderError(
            f"{folder}: written by {writer} in format {number}, this version reads format "
            f"{FORMAT}; pip install --upgrade matchwork"
        )
    if number < FORMAT:
        raise FolderError(
            f"{folder}: written by an older version ({writer}) in format {number}, this version "
            f"reads format {FORMAT}; train the matcher again, or save it again"
        )
    for name in config.get("files", []):
        if not (folder / name).is_file():
            raise FolderError(f"{folder}: {name} is missing; copy the whole folder again")
    return config


def _default_card(parts: MatcherParts, model_name: str) -> str:
    settings = json.dumps(to_table(parts.model.config), indent=2)
    return (
        f"# {parts.name}\n\nA text matcher made with matchwork {VERSION}: "
        f"`{model_name}` with\n\n```json\n{settings}\n```\n\n"
        "Load it with `matchwork.load(FOLDER)` or "
        "`matchwork rank FOLDER --query TEXT --documents FILE`.\n"
    )
