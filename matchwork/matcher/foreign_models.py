"""Models of the sentence-transformers library, read from their folders.

Scores equal the library's; those of a cross-encoder are logits, before any activation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from matchwork.encode import TransformerEncoder, load_transformer
from matchwork.encode.model_folder import model_folder, optional_settings, transformer_folder
from matchwork.encode.pretrained import library_tokenizer, read_network, wrap_network
from matchwork.errors import DataError
from matchwork.matcher import foreign_settings
from matchwork.matcher.folder import MatcherParts
from matchwork.models import (
    BiEncoder,
    BiEncoderConfig,
    ColBERT,
    ColBERTConfig,
    CrossEncoder,
    CrossEncoderConfig,
)
from matchwork.text import SubwordTokenizer

MAXSIM, COSINE = "-maxsim", "-cosine"
_Wrapped = tuple[SubwordTokenizer, TransformerEncoder]


@dataclass(frozen=True)
class _Head:
    """Names of the parts of a relevance head in a network of the transformers library."""

    dense: str
    output: str
    activation: Literal["tanh", "relu", "gelu"]


_ACTIVATIONS = ("tanh", "relu", "gelu")
_OF_ROBERTA = _Head("classifier.dense", "classifier.out_proj", "tanh")
_HEADS = {
    "bert": _Head("base_model.pooler.dense", "classifier", "tanh"),
    "camembert": _OF_ROBERTA,
    "deberta": _Head("pooler.dense", "classifier", "gelu"),
    "deberta-v2": _Head("pooler.dense", "classifier", "gelu"),
    "distilbert": _Head("pre_classifier", "classifier", "relu"),
    "electra": _Head("classifier.dense", "classifier.out_proj", "gelu"),
    "mpnet": _OF_ROBERTA,
    "roberta": _OF_ROBERTA,
    "xlm-roberta": _OF_ROBERTA,
}


def is_cross_encoder(settings: Mapping[str, Any]) -> bool:
    """Return whether a `config.json` belongs to a network that classifies texts."""
    architectures = settings.get("architectures")
    first = architectures[0] if isinstance(architectures, list) and architectures else ""
    return str(first).endswith("ForSequenceClassification")


def read_maxsim(base: str, name: str) -> MatcherParts:
    """Read a transformer whose tokens are matched one by one, with MaxSim."""
    tokenizer, encoder = load_transformer(base)
    return MatcherParts(tokenizer, ColBERT(ColBERTConfig(), encoder), name=name)


def read_cosine(base: str, name: str) -> MatcherParts:
    """Read a transformer that gives one vector per text, compared by cosine.

    A bi-encoder of sentence-transformers keeps its own pooling.
    """
    folder = model_folder(base)
    if (folder / "modules.json").is_file():
        return read_bi_encoder(folder, name)
    folder = transformer_folder(folder)
    tokenizer, encoder = _wrap(folder, read_network(folder), listed=False)
    return MatcherParts(tokenizer, BiEncoder(BiEncoderConfig(scale=1.0), encoder), name=name)


def read_bi_encoder(folder: Path, name: str) -> MatcherParts:
    """Read Transformer, Pooling and perhaps Normalize, as `modules.json` lists them."""
    modules = foreign_settings.modules(folder)
    inner = transformer_folder(modules[0][1] if modules else folder)
    kinds = [kind for kind, _ in modules]
    if kinds == ["Transformer"] and is_cross_encoder(optional_settings(inner / "config.json")):
        raise DataError(
            f"a cross-encoder reads two texts as one and has no vector of either; open {inner} "
            f"without {COSINE}",
            path=folder,
        )
    if kinds[:2] != ["Transformer", "Pooling"] or kinds[2:] not in ([], ["Normalize"]):
        raise DataError(
            f"a bi-encoder of {' + '.join(kinds) or 'no modules'}; only Transformer + Pooling, "
            "with or without Normalize, can be read",
            path=folder / "modules.json",
        )
    if "Normalize" in kinds:
        foreign_settings.refuse_other_norm(modules[2][1])
    foreign_settings.refuse_prompts(folder, of_sides=True)
    config = BiEncoderConfig(
        pooling=foreign_settings.pooling(modules[1][1]),
        similarity=foreign_settings.similarity(folder, normalized="Normalize" in kinds),
        scale=1.0,
    )
    tokenizer, encoder = _wrap(inner, read_network(inner), listed=True)
    return MatcherParts(tokenizer, BiEncoder(config, encoder), name=name)


def read_cross_encoder(folder: Path, name: str) -> MatcherParts:
    """Read a cross-encoder that gives one logit; its activation is kept apart."""
    transformer_folder(folder)  # refuses pickled weights
    listed = (folder / "modules.json").is_file()
    if listed:
        if len(foreign_settings.modules(folder)) > 1:
            raise DataError("a cross-encoder of several modules cannot be read", path=folder)
        foreign_settings.refuse_prompts(folder, of_sides=False)
    network = read_network(folder, kind="AutoModelForSequenceClassification")
    kind, num_labels = network.config.model_type, network.config.num_labels
    if num_labels != 1:
        raise DataError(f"it tells {num_labels} labels apart; a ranking needs one", path=folder)
    if kind not in _HEADS:
        raise DataError(
            f"the relevance head of {kind!r} is not known; known: {', '.join(_HEADS)}", path=folder
        )
    head = _HEADS[kind]
    dense, output = network.get_submodule(head.dense), network.get_submodule(head.output)
    tokenizer, encoder = _wrap(folder, network.base_model, listed=listed, cut_texts=False)
    activation = getattr(network.config, "pooler_hidden_act", head.activation)
    if activation not in _ACTIVATIONS:
        raise DataError(
            f"the activation {activation!r} of its head cannot be read, only "
            f"{', '.join(_ACTIVATIONS)}",
            path=folder / "config.json",
        )
    model = CrossEncoder(CrossEncoderConfig(activation=activation), encoder)
    model.dense.load_state_dict(dense.state_dict())
    model.output.load_state_dict(output.state_dict())
    activation = foreign_settings.score_activation(folder, listed=listed)
    return MatcherParts(tokenizer, model, name=name, score_activation=activation)


def _wrap(folder: Path, network: Any, *, listed: bool, cut_texts: bool = True) -> _Wrapped:
    """Wrap a network so that it reads as much of a text as the library would.

    The library's settings count only if a `modules.json` lists the folder (`listed`). Without
    `cut_texts`, pairs are cut to the limit instead of texts.
    """
    settings = foreign_settings.transformer_settings(folder, listed=listed)
    opened = library_tokenizer(folder)
    tokenizer, encoder = wrap_network(
        folder,
        network,
        max_positions=settings.max_positions,
        truncate=cut_texts,
        backend=opened.backend_tokenizer,  # its settings may differ from those of tokenizer.json
    )
    if "token_type_ids" not in opened.model_input_names:  # then the library tells no types apart
        encoder.config = replace(encoder.config, second_type=0)
    upper, lower = (tokenizer.encode([text])[0].tolist() for text in ("A", "a"))
    if settings.lower_case and upper != lower:
        raise DataError(
            "do_lower_case, but its tokenizer keeps capitals; give the tokenizer a lower-casing "
            "normalizer",
            path=settings.path,
        )
    return tokenizer, encoder
