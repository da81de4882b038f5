"""Pre-trained transformers: a tokenizer and an encoder from one folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from json import loads
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from matchwork.encode.broken_folder import cannot_open, require_fit
from matchwork.encode.model_folder import transformer_folder
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
    return wrap_network(
        folder,
        network,
        unit=unit,
        trainable=trainable,
        special_tokens=special_tokens,
        cross_encode=cross_encode,
    )


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
    """Return the tokenizer of a folder, and the network read from it as an encoder.

    Args:
        folder: The transformer's folder.
        network: The network from `read_network`.
        unit: What a token is, see `SubwordTokenizerConfig`.
        trainable: Whether training changes the weights.
        max_positions: Most subword tokens to read at once; capped at the network's positions.
        special_tokens: Where the special tokens stand, see `SubwordTokenizerConfig`.
        cross_encode: Whether models get vectors of both texts read as one.
        truncate: Whether the tokenizer truncates texts; if not, whoever reads two texts as one
            must truncate them.
        backend: A tokenizer to use in place of the folder's `tokenizer.json`.
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
    config = TransformerConfig(
        architecture=_architecture(network.config),
        vocab_size=tokenizer.vocab_size,
        before=before,
        after=after,
        trainable=trainable,
        between=pair.between,
        second_type=pair.second_type if _knows_types(network) else 0,
        max_positions=max_positions,
        cross_encode=cross_encode,
    )
    return tokenizer, TransformerEncoder(config, network)


def _knows_types(network: Any) -> bool:
    """Return whether the network has token types that mark the second of two texts."""
    takes_types = "token_type_ids" in signature(network.forward).parameters
    return takes_types and getattr(network.config, "type_vocab_size", 0) > 1


def library_tokenizer(folder: Path) -> Any:
    """Open the tokenizer of a folder with the transformers library, with all its settings."""
    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        with _quiet_transformers():
            return import_transformers().AutoTokenizer.from_pretrained(folder, **options)
    except Exception as error:  # the library raises many kinds
        SubwordTokenizer.read(folder / "tokenizer.json")  # raises first if the file is broken
        raise cannot_open("the tokenizer", folder, error) from error


def read_network(folder: Path, *, layer: int = -1, kind: str = "AutoModel") -> Any:
    """Read the network of a folder with its weights, in float32.

    Args:
        folder: The transformer's folder.
        layer: The last layer to load, see `load_transformer`.
        kind: The class of the transformers library that opens it.
    """
    transformers = import_transformers()
    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        with _quiet_transformers():
            config = transformers.AutoConfig.from_pretrained(folder, **options)
    except Exception as error:  # the library raises many kinds
        raise cannot_open("the transformer", folder, error) from error
    _cut_layers(config, layer, folder)
    options |= {"config": config, "use_safetensors": True, "output_loading_info": True}
    options["ignore_mismatched_sizes"] = True  # the report names them: require_fit
    try:
        with _quiet_transformers():
            network, report = getattr(transformers, kind).from_pretrained(folder, **options)
    except Exception as error:
        raise cannot_open("the transformer", folder, error) from error
    require_fit(report, folder, without_pooler=kind == "AutoModel")
    return network.float()


def _cut_layers(config: Any, layer: int, folder: Path) -> None:
    if config.is_encoder_decoder:
        raise DataError(
            f"{config.model_type} has an encoder and a decoder; use an encoder such as BERT",
            path=folder,
        )
    depth = getattr(config, "num_hidden_layers", None)
    if not isinstance(depth, int):
        raise DataError(
            f"{config.model_type} has no layers that read text alone; use an encoder such as BERT",
            path=folder,
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


def _architecture(config: Any) -> dict[str, Any]:
    """Return the config as plain values, without its folder and references to remote code."""
    table: dict[str, Any] = loads(config.to_json_string(use_diff=True))
    return {key: table[key] for key in sorted(table) if key not in ("_name_or_path", "auto_map")}


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
