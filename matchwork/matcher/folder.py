"""A matcher on disk: JSON, safetensors and a model card. Opening one runs no code.

`config.json` names the model, its settings and every other file; `model.safetensors` holds
the weights; `tokenizer.json`, `statistics.safetensors` and `calibration.json` what the text
side learnt; `README.md` is for people.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matchwork.config import build, to_table
from matchwork.encode import ENCODERS
from matchwork.errors import ConfigError, DataError, FolderError, OutputError
from matchwork.files import atomic_folder, read_json, write_json, write_text
from matchwork.models import MODELS, Model
from matchwork.rank.calibration import calibration_from_table, calibration_to_table
from matchwork.text import CorpusStatistics
from matchwork.text.tokenizer import TOKENIZERS
from matchwork.version import VERSION

if TYPE_CHECKING:
    from matchwork.matcher.matcher import Matcher

FORMAT = 1
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
STATISTICS, CALIBRATION, CARD = "statistics.safetensors", "calibration.json", "README.md"
OWN_FILES = {CONFIG, WEIGHTS, TOKENIZER, STATISTICS, CALIBRATION, CARD}


def registered_name(model: Model) -> str:
    """The registered name whose class and preset this model has; of several, the most specific."""
    settings = to_table(model.config)
    fitting = [
        name
        for name in MODELS
        if type(model) is MODELS[name].model and MODELS[name].preset.items() <= settings.items()
    ]
    if not fitting:
        raise ConfigError(
            f"{type(model).__name__} is not registered; "
            "decorate it with @register('name') to save it"
        )
    return max(fitting, key=lambda name: len(MODELS[name].preset))


def save(matcher: "Matcher", path: str | Path, card: str | None = None) -> None:
    """Write the folder beside, then rename: an interrupted save leaves the old one."""
    from safetensors import SafetensorError

    try:
        with atomic_folder(path, OWN_FILES) as folder:
            _write(matcher, folder, card)
    except SafetensorError as error:
        raise OutputError(
            f"cannot write {path}: {error}; check free space. Nothing was left half-written."
        ) from error


def _write(matcher: "Matcher", folder: Path, card: str | None) -> None:
    from safetensors.numpy import save_file as save_arrays
    from safetensors.torch import save_file

    files = [WEIGHTS, TOKENIZER]
    tensors = {k: v.detach().cpu().contiguous() for k, v in matcher.model.state_dict().items()}
    save_file(tensors, folder / WEIGHTS)
    write_json(folder / TOKENIZER, matcher.tokenizer.to_dict())
    if matcher.statistics is not None:
        save_arrays(matcher.statistics.to_arrays(), folder / STATISTICS)
        files.append(STATISTICS)
    if matcher.calibration is not None:
        write_json(folder / CALIBRATION, calibration_to_table(matcher.calibration))
        files.append(CALIBRATION)
    encoder = matcher.model.encoder
    write_json(
        folder / CONFIG,
        {
            "format": FORMAT,
            "matchwork": VERSION,
            "name": matcher.name,
            "model": {
                "name": registered_name(matcher.model),
                "config": to_table(matcher.model.config),
            },
            "encoder": {"kind": encoder.kind, "config": to_table(encoder.config)},
            "max_query_length": matcher.max_query_length,
            "max_document_length": matcher.max_document_length,
            "max_pair_length": matcher.max_pair_length,
            "score_activation": matcher.score_activation,
            "files": files,
        },
    )
    write_text(folder / CARD, card or _default_card(matcher))


def load(path: str | Path) -> "Matcher":
    """Open a matcher folder; what is missing, damaged or too new is a `FolderError`."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file as load_arrays
    from safetensors.torch import load_file

    from matchwork.matcher.matcher import Matcher

    folder = Path(path)
    config = _read_config(folder)
    try:
        tokenizer_table = read_json(folder / TOKENIZER)
        tokenizer = TOKENIZERS[tokenizer_table["kind"]].from_dict(tokenizer_table)
        entry, encoder_class = MODELS[config["model"]["name"]], ENCODERS[config["encoder"]["kind"]]
        settings = build(encoder_class.Config, config["encoder"]["config"], f"{folder / CONFIG}")
        model_config = entry.config(config["model"]["config"], f"{folder / CONFIG}")
        model = entry.model(model_config, encoder_class(settings))
        # Copied, since in a file weights start anywhere, and where they start in memory decides
        # the last bit of some products; assigned, to keep the precision that was saved.
        weights = {name: part.clone() for name, part in load_file(folder / WEIGHTS).items()}
        model.load_state_dict(weights, strict=True, assign=True)
        statistics = calibration = None
        if STATISTICS in config["files"]:
            statistics = CorpusStatistics.from_arrays(load_arrays(folder / STATISTICS))
        if CALIBRATION in config["files"]:
            calibration = calibration_from_table(read_json(folder / CALIBRATION), CALIBRATION)
        matcher = Matcher(
            tokenizer,
            model,
            name=config["name"],
            statistics=statistics,
            calibration=calibration,
            max_query_length=config["max_query_length"],
            max_document_length=config["max_document_length"],
        )
        matcher.max_pair_length = config.get("max_pair_length")  # older folders have none
        matcher.score_activation = config.get("score_activation")
        return matcher
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


def _read_config(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise FolderError(f"{folder}: no such folder; a matcher is a folder with {CONFIG} in it")
    if not (folder / CONFIG).is_file():
        raise FolderError(f"{folder}: not a matcher, {CONFIG} is missing")
    try:
        config = read_json(folder / CONFIG)
    except DataError as error:
        raise FolderError(f"{error}; the matcher is damaged, save it again") from error
    if not isinstance(config, dict) or not isinstance(config.get("format"), int):
        raise FolderError(f"{folder / CONFIG}: no format number; this is not a matcher")
    if config["format"] > FORMAT:
        raise FolderError(
            f"{folder}: written by matchwork {config.get('matchwork')} in format "
            f"{config['format']}, this version reads up to {FORMAT}; "
            "pip install --upgrade matchwork"
        )
    for name in config.get("files", []):
        if not (folder / name).is_file():
            raise FolderError(f"{folder}: {name} is missing; copy the whole folder again")
    return config


def _default_card(matcher: "Matcher") -> str:
    settings = json.dumps(to_table(matcher.model.config), indent=2)
    return (
        f"# {matcher.name}\n\nA text matcher made with matchwork {VERSION}: "
        f"`{registered_name(matcher.model)}` with\n\n```json\n{settings}\n```\n\n"
        "Load it with `matchwork.Matcher.load(FOLDER)` or "
        "`matchwork rank FOLDER --query TEXT --documents FILE`.\n"
    )
