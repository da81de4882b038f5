"""Pre-trained transformers: a tokenizer and an encoder from one folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from json import loads
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from matchwork.encode.model_folder import cannot_open, require_fit, transformer_folder
from matchwork.encode.transformer import (
    TransformerConfig,
    TransformerEncoder,
    import_transformers,
    num_positions,
    smallest,
)
from matchwork.errors import ConfigError, DataError
from matchwork.quiet import without_warnings
from matchwork.text import SubwordTokenizer, SubwordTokenizerConfig
from matchwork.text.subwords import SpecialTokens, Unit

_BY_LAYER = ("layer_types", "attention_window")  # config entries with a value per layer


def load_transformer(
    name: str | Path,
    *,
    unit: Unit = "subword",
    layer: int = -1,
    trainable: bool = False,
    special_tokens: SpecialTokens = "around",
    cross_encode: bool = False,
) -> tuple[SubwordTokenizer, TransformerEncoder]:
    """Load a pre-trained transformer and its tokenizer.

    Args:
        name: A folder, a model of the Hugging Face hub, or "minilm" (extra of that name).
        unit: What a token is, see `SubwordTokenizerConfig`.
        layer: Use the vectors after this layer; 0 is the input layer, negative numbers count
            from the last. Layers above it are not loaded; a norm behind the last layer
            (ModernBERT) applies to the last one that is.
        trainable: Whether training changes the weights.
        special_tokens: Where the special tokens stand, see `SubwordTokenizerConfig`.
        cross_encode: Whether models get vectors of both texts read as one, so that each sees
            the other.
    """
    import_transformers()
    folder = transformer_folder(name)
    network = read_network(folder, layer=layer)
    if network.config.num_hidden_layers == 0:
        _require_runs(network, folder)
    options: Any = {"special_tokens": special_tokens, "cross_encode": cross_encode}
    return wrap_network(folder, network, unit=unit, trainable=trainable, **options)


def wrap_network(
    folder: Path,
    network: Any,
    *,
    unit: Unit = "subword",
    trainable: bool = False,
    max_positions: int | None = None,
    special_tokens: SpecialTokens = "around",
    cross_encode: bool = False,
    truncate: bool = True,
    backend: Tokenizer | None = None,
) -> tuple[SubwordTokenizer, TransformerEncoder]:
    """Return the tokenizer of a folder, and the network from `read_network` as an encoder.

    See `load_transformer`. `max_positions` is capped at the network's. Without `truncate`,
    whoever reads two texts as one must truncate them. `backend` replaces `tokenizer.json`.
    """
    if cross_encode and special_tokens == "token":
        raise ConfigError(
            'special_tokens = "token" puts [CLS] before each of two texts; with cross_encode = '
            "true one [CLS] stands before both, so leave special_tokens out"
        )
    limit = smallest(max_positions, num_positions(network))
    settings = SubwordTokenizerConfig(
        unit=unit, max_positions=limit if truncate else None, special_tokens=special_tokens
    )
    if backend is None:
        tokenizer = SubwordTokenizer.read(folder / "tokenizer.json", settings)
    else:
        tokenizer = SubwordTokenizer(backend, settings)
    before, after = tokenizer.special_ids
    pair = tokenizer.pair_special_ids
    takes_types = "token_type_ids" in signature(network.forward).parameters
    has_types = takes_types and getattr(network.config, "type_vocab_size", 0) > 1
    # As plain values, without the folder and references to remote code.
    architecture = dict(sorted(loads(network.config.to_json_string(use_diff=True)).items()))
    for key in ("_name_or_path", "auto_map"):
        architecture.pop(key, None)
    config = TransformerConfig(
        architecture=architecture,
        vocab_size=tokenizer.vocab_size,
        before=before,
        after=after,
        trainable=trainable,
        between=pair.between,
        second_type=pair.second_type if has_types else 0,
        max_positions=max_positions,
        cross_encode=cross_encode,
    )
    return tokenizer, TransformerEncoder(config, network)


def library_tokenizer(folder: Path) -> Any:
    """Open the tokenizer of a folder with the transformers library, with all its settings."""
    try:
        return _read("AutoTokenizer", "the tokenizer", folder)
    except DataError:
        SubwordTokenizer.read(folder / "tokenizer.json")  # raises first if the file is broken
        raise


def read_network(folder: Path, *, layer: int = -1, kind: str = "AutoModel") -> Any:
    """Read the network of a folder with its weights, in float32, by this class of the library."""
    config = _read("AutoConfig", "the transformer", folder)
    _cut_layers(config, layer, folder)
    options = {"config": config, "use_safetensors": True, "output_loading_info": True}
    options["ignore_mismatched_sizes"] = True  # the report names them: require_fit
    network, report = _read(kind, "the transformer", folder, **options)
    require_fit(report, folder, without_pooler=kind == "AutoModel")
    return network.float()


def _read(kind: str, what: str, folder: Path, **options: Any) -> Any:
    """Open a local folder with a class of the transformers library."""
    opener = getattr(import_transformers(), kind)
    options |= {"local_files_only": True, "trust_remote_code": False}
    try:
        with _quiet_transformers():
            return opener.from_pretrained(folder, **options)
    except Exception as error:  # the library raises many kinds
        raise cannot_open(what, folder, error) from error


def _cut_layers(config: Any, layer: int, folder: Path) -> None:
    depth = getattr(config, "num_hidden_layers", None)
    if config.is_encoder_decoder or not isinstance(depth, int):
        both = config.is_encoder_decoder
        fault = "an encoder and a decoder" if both else "no layers that read text alone"
        raise DataError(
            f"{config.model_type} has {fault}; use an encoder such as BERT", path=folder
        )
    if not -depth - 1 <= layer <= depth:
        raise ConfigError(
            f"layer must be between {-depth - 1} and {depth}, got {layer}: {folder.name} has "
            f"{depth} layers"
        )
    config.num_hidden_layers = num_layers = layer if layer >= 0 else depth + 1 + layer
    for name in _BY_LAYER:
        of_layers = getattr(config, name, None)
        if isinstance(of_layers, list) and len(of_layers) == depth:
            setattr(config, name, of_layers[:num_layers])


def _require_runs(network: Any, folder: Path) -> None:
    """Refuse a network that does not run without layers."""
    try:
        with torch.no_grad():
            network(input_ids=torch.zeros(1, 2, dtype=torch.long))
    except Exception as error:  # the library raises many kinds
        raise ConfigError(
            f"layer = 0: {folder.name} ({network.config.model_type}) does not run without layers; "
            "use 1 or more"
        ) from error


@contextmanager
def _quiet_transformers() -> Iterator[None]:
    """Suppress progress bars, hints and warnings of the transformers library."""
    logging = import_transformers().utils.logging
    with without_warnings():
        level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            yield
        finally:
            logging.set_verbosity(level)
            if bars:
                logging.enable_progress_bar()
