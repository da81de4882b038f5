"""Matchers that need no training, from models that others have trained.

Folders of the sentence-transformers library give the scores that it gives; of a cross-encoder
the logits, before any activation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os.path import isdir
from pathlib import Path
from typing import Any, Literal

from matchwork.encode import TransformerEncoder, load_transformer
from matchwork.encode.model_folder import model_folder, optional_settings, transformer_folder
from matchwork.encode.pretrained import library_tokenizer, read_network, wrap_network
from matchwork.errors import ConfigError, DataError
from matchwork.matcher import library_settings
from matchwork.matcher.matcher import Matcher
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
_Loaded = tuple[SubwordTokenizer, TransformerEncoder]


@dataclass(frozen=True)
class _Head:
    """Where the parts of a relevance head are in a network of the transformers library."""

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


def pretrained(name: str | Path) -> Matcher:
    """A matcher made of a folder or a model of the Hugging Face hub.

    `name` is one of
    - "NAME-maxsim" or "NAME-cosine": the transformer NAME ("minilm", a folder, the hub's) with
      its tokens matched one by one, or with one vector for each text;
    - a bi-encoder or a cross-encoder of the sentence-transformers library;
    - the folder of a matcher, as `Matcher.load` opens it.
    """
    if str(name) in ("", MAXSIM, COSINE):
        raise ConfigError("name a folder or a model, such as 'minilm-maxsim'")
    if not isdir(name) and str(name).endswith((MAXSIM, COSINE)):
        return _untrained(str(name))
    folder = model_folder(name)
    settings = optional_settings(folder / "config.json")
    if "format" in settings:
        return Matcher.load(folder)
    if is_cross_encoder(settings):
        return _cross_encoder(folder, str(name))
    if (folder / "modules.json").is_file():
        return _bi_encoder(folder, str(name))
    transformer_folder(folder)  # refuses what is not even that
    raise DataError(
        f"a transformer alone is no matcher; say how it compares texts with {name}{MAXSIM} or "
        f'{name}{COSINE}, or train one from it (vectors.source = "transformer")',
        path=folder,
    )


def is_cross_encoder(settings: Mapping[str, Any]) -> bool:
    """Whether a `config.json` is that of a network which classifies texts."""
    architectures = settings.get("architectures")
    first = architectures[0] if isinstance(architectures, list) and architectures else ""
    return str(first).endswith("ForSequenceClassification")


def _untrained(name: str) -> Matcher:
    """A transformer by its name, and behind that how it compares texts."""
    if name.endswith(COSINE):
        return _by_cosine(name.removesuffix(COSINE), name)
    tokenizer, encoder = load_transformer(name.removesuffix(MAXSIM))
    return Matcher(tokenizer, ColBERT(ColBERTConfig(), encoder), name=name)


def _by_cosine(base: str, name: str) -> Matcher:
    folder = model_folder(base)
    if (folder / "modules.json").is_file():
        return _bi_encoder(folder, name)
    place = transformer_folder(folder)
    tokenizer, encoder = _loaded(place, read_network(place), listed=False)
    return Matcher(tokenizer, BiEncoder(BiEncoderConfig(scale=1.0), encoder), name=name)


def _bi_encoder(folder: Path, name: str) -> Matcher:
    """Transformer, Pooling and perhaps Normalize, as `modules.json` lists them."""
    modules = library_settings.modules(folder)
    place = transformer_folder(modules[0][1] if modules else folder)
    kinds = [kind for kind, _ in modules]
    if kinds == ["Transformer"] and is_cross_encoder(optional_settings(place / "config.json")):
        raise DataError(
            f"a cross-encoder reads two texts as one and has no vector of either; open {place} "
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
        library_settings.refuse_other_norm(modules[2][1])
    library_settings.refuse_prompts(folder, of_sides=True)
    config = BiEncoderConfig(
        pooling=library_settings.pooling(modules[1][1]),
        similarity=library_settings.similarity(folder, normalized="Normalize" in kinds),
        scale=1.0,
    )
    tokenizer, encoder = _loaded(place, read_network(place), listed=True)
    return Matcher(tokenizer, BiEncoder(config, encoder), name=name)


def _cross_encoder(folder: Path, name: str) -> Matcher:
    transformer_folder(folder)  # refuses pickled weights
    listed = (folder / "modules.json").is_file()
    if listed:
        if len(library_settings.modules(folder)) > 1:
            raise DataError("a cross-encoder of several modules cannot be read", path=folder)
        library_settings.refuse_prompts(folder, of_sides=False)
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
    tokenizer, encoder = _loaded(folder, network.base_model, listed=listed, cut_texts=False)
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
    matcher = Matcher(tokenizer, model, name=name)
    matcher.score_activation = library_settings.score_activation(folder, listed=listed)
    return matcher


def _loaded(folder: Path, network: Any, *, listed: bool, cut_texts: bool = True) -> _Loaded:
    """As much of a text as the library would read, in its pieces.

    It reads settings of its own only where they are `listed`, by a `modules.json`.
    """
    settings = library_settings.of_transformer(folder, listed=listed)
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
