"""Pre-trained transformers from their folders: a tokenizer and an encoder that belong together."""

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
from matchwork.text import WordPieceTokenizer, WordPieceTokenizerConfig
from matchwork.text.word_pieces import Frame, Unit

_BY_LAYER = ("layer_types", "attention_window")  # settings with a value for each layer


def load_transformer(
    name: str | Path,
    *,
    unit: Unit = "piece",
    layer: int = -1,
    trainable: bool = False,
    frame: Frame = "around",
    joint: bool = False,
) -> tuple[WordPieceTokenizer, TransformerEncoder]:
    """A tokenizer and an encoder that belong together.

    `name` is a folder, a model of the Hugging Face hub, or "minilm" (extra of that name).
    Vectors are those after layer number `layer`; negative numbers count from the last, 0 is
    the input layer. Layers above it are not loaded; a norm behind the last layer (ModernBERT) works
    on what is left. `unit` and `frame` say what the tokens of a
    text are, see `WordPieceTokenizerConfig`. `joint`: models get vectors of both texts read as
    one, so that each has seen the other.
    """
    import_transformers()
    folder = transformer_folder(name)
    network = read_network(folder, layer=layer)
    if network.config.num_hidden_layers == 0:
        _require_runs(network, folder)
    return wrap_network(folder, network, unit=unit, trainable=trainable, frame=frame, joint=joint)


def wrap_network(
    folder: Path,
    network: Any,
    *,
    unit: Unit = "piece",
    trainable: bool = False,
    max_positions: int | None = None,
    frame: Frame = "around",
    joint: bool = False,
    cut_texts: bool = True,
    pieces: Tokenizer | None = None,
) -> tuple[WordPieceTokenizer, TransformerEncoder]:
    """The tokenizer of a folder, and the network read from it as an encoder.

    `pieces` stand in for its `tokenizer.json`. `max_positions` are the most pieces that are read at
    once; never more than it has positions. With `cut_texts` the tokenizer leaves no more of a
    text; without, whoever reads two texts as one has to cut them.
    """
    if joint and frame == "token":
        raise ConfigError(
            'frame = "token" puts [CLS] before each of two texts; with joint = true one [CLS] '
            "stands before both, so leave frame out"
        )
    limit = smallest(max_positions, num_positions(network))
    settings = WordPieceTokenizerConfig(
        unit=unit, max_positions=limit if cut_texts else None, frame=frame
    )
    if pieces is None:
        tokenizer = WordPieceTokenizer.read(folder / "tokenizer.json", settings)
    else:
        tokenizer = WordPieceTokenizer(pieces, settings)
    before, after = tokenizer.frame
    pair = tokenizer.pair_frame
    config = TransformerConfig(
        architecture=_architecture(network.config),
        vocab_size=tokenizer.vocab_size,
        before=before,
        after=after,
        trainable=trainable,
        between=pair.between,
        second_type=pair.second_type if _knows_types(network) else 0,
        max_positions=max_positions,
        joint=joint,
    )
    return tokenizer, TransformerEncoder(config, network)


def _knows_types(network: Any) -> bool:
    """Whether the network can tell a second text from a first one by the types of its tokens."""
    takes_types = "token_type_ids" in signature(network.forward).parameters
    return takes_types and getattr(network.config, "type_vocab_size", 0) > 1


def library_tokenizer(folder: Path) -> Any:
    """The tokenizer of a folder as the transformers library opens it, with all its settings."""
    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        with _quiet_transformers():
            return import_transformers().AutoTokenizer.from_pretrained(folder, **options)
    except Exception as error:  # whatever their code comes to
        WordPieceTokenizer.read(folder / "tokenizer.json")  # a broken one is named with its file
        raise cannot_open("the tokenizer", folder, error) from error


def read_network(folder: Path, *, layer: int = -1, kind: str = "AutoModel") -> Any:
    """The network of a folder with its weights, opened by a class of the transformers library."""
    transformers = import_transformers()
    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        with _quiet_transformers():
            config = transformers.AutoConfig.from_pretrained(folder, **options)
    except Exception as error:  # whatever their code comes to
        raise cannot_open("the transformer", folder, error) from error
    _cut_layers(config, layer, folder)
    options |= {"config": config, "use_safetensors": True, "output_loading_info": True}
    options["ignore_mismatched_sizes"] = True  # the report names them, and they are refused
    try:
        with _quiet_transformers():
            network, report = getattr(transformers, kind).from_pretrained(folder, **options)
    except Exception as error:
        raise cannot_open("the transformer", folder, error) from error
    require_fit(report, folder, without_pooler=kind == "AutoModel")  # which nobody asks for
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
    config.num_hidden_layers = kept = layer if layer >= 0 else depth + 1 + layer
    for name in _BY_LAYER:
        of_layers = getattr(config, name, None)
        if isinstance(of_layers, list) and len(of_layers) == depth:
            setattr(config, name, of_layers[:kept])


def _require_runs(network: Any, folder: Path) -> None:
    """Some networks need a layer to run at all."""
    try:
        with torch.no_grad():
            network(input_ids=torch.zeros(1, 2, dtype=torch.long))
    except Exception as error:  # whatever their code comes to
        raise ConfigError(
            f"layer = 0: {folder.name} ({network.config.model_type}) does not run without layers; "
            "use 1 or more"
        ) from error


def _architecture(config: Any) -> dict[str, Any]:
    """Plain values without where they came from: neither a folder nor code by reference."""
    table: dict[str, Any] = loads(config.to_json_string(use_diff=True))
    return {key: table[key] for key in sorted(table) if key not in ("_name_or_path", "auto_map")}


@contextmanager
def _quiet_transformers() -> Iterator[None]:
    """Its progress bars and hints are not for our users."""
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
