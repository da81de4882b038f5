"""The sections [text], [vectors] and [links] of a recipe, and the files that they name."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from matchwork.data.catalogue import DATA_ROOT_VARIABLE
from matchwork.encode.model_folder import packaged_folder
from matchwork.encode.transformer import import_transformers
from matchwork.errors import ConfigError, DataError
from matchwork.models import MODELS
from matchwork.models.iasm.linked_words import LinkedWords, require_whole_words
from matchwork.models.iasm.word_links import UsesWordLinks
from matchwork.text import Tokenizer, WordTokenizer, WordTokenizerConfig

VECTORS_VARIABLE = "MATCHWORK_VECTORS"
_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
_TOKENIZER = tuple(field.name for field in fields(WordTokenizerConfig))
_WORD_VECTORS = ("words", "dim", "unknown", "vocabulary")
_TRANSFORMER = ("unit", "layer", "special_tokens", "cross_encode")


@dataclass(frozen=True, kw_only=True)
class TextSection(WordTokenizerConfig):
    """Settings of the word tokenizer, and length limits.

    Args:
        min_count: Words that are rarer in the training texts are unknown.
        max_query_length: Most tokens of a query; 0: no limit.
        max_document_length: Most tokens of a document; 0: no limit.
    """

    min_count: int = 1
    max_query_length: int = 0
    max_document_length: int = 0

    def __post_init__(self) -> None:
        for name in ("min_count", "max_query_length", "max_document_length"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must not be negative, got {getattr(self, name)}")

    @property
    def tokenizer(self) -> WordTokenizerConfig:
        """The tokenizer's own settings."""
        return WordTokenizerConfig(**{name: getattr(self, name) for name in _TOKENIZER})


@dataclass(frozen=True, kw_only=True)
class VectorsSection:
    """Source of the token vectors.

    Args:
        source: A hash of the word ("random"), a `file`, the training texts ("corpus"), or a
            transformer.
        file: File of word vectors; or the folder, hub name or short name of a transformer.
        words: File with the words of a matrix, one per line.
        dim: Width of vectors that are not read from a file.
        trainable: Whether training changes the vectors.
        unknown: Vectors of words that have none: one each ("hash"), or one for all ("const").
        vocabulary: All words of the file, or only those in the data set's texts ("data"), which
            makes a smaller matcher that knows fewer words.
        unit: See `load_transformer`, also for the next three.
        layer: Layer of a transformer whose vectors are used.
        special_tokens: Special tokens of a transformer that are put around a text.
        cross_encode: Whether a transformer reads query and document as one text.
    """

    source: Literal["random", "file", "corpus", "transformer"] = "random"
    file: str = ""
    words: str = ""
    dim: int = 100
    trainable: bool = False
    unknown: Literal["hash", "const"] = "hash"
    vocabulary: Literal["all", "data"] = "all"
    unit: Literal["subword", "word"] = "subword"
    layer: int = -1
    special_tokens: Literal["around", "before", "token"] = "around"
    cross_encode: bool = False

    def __post_init__(self) -> None:
        if (self.source in ("file", "transformer")) != bool(self.file):
            source = self.source if self.source == "transformer" else "file"
            raise ConfigError(f'source = "{source}" and file belong together, got {self.file!r}')
        if self.words and not self.file:
            raise ConfigError(f"words name the rows of a file, got {self.words!r} without one")
        if self.dim < 1:
            raise ConfigError(f"dim must be at least 1, got {self.dim}")
        if self.source == "transformer":
            _refuse(self, _WORD_VECTORS, "is for word vectors, not for a transformer")
        else:
            _refuse(self, _TRANSFORMER, 'is for source = "transformer"')
        if self.cross_encode and self.special_tokens == "token":
            raise ConfigError(
                'cross_encode = true has one [CLS] for both texts; special_tokens = "token" has two'
            )


@dataclass(frozen=True, kw_only=True)
class LinksSection:
    """Source of links between words: WordNet, or a `file`."""

    source: Literal["wordnet", "file"]
    file: str = ""

    def __post_init__(self) -> None:
        if (self.source == "file") != bool(self.file):
            raise ConfigError(f'source = "file" and file belong together, got {self.file!r}')

    def words(self, tokenizer: Tokenizer, data_root: str | Path | None) -> LinkedWords:
        """Read the links between words of the tokenizer's vocabulary."""
        assert isinstance(tokenizer, WordTokenizer)  # see check_inputs
        if self.source == "wordnet":
            return LinkedWords.wordnet(tokenizer.vocabulary.words)
        return LinkedWords.read(find_file(self.file, data_root, "links"), tokenizer)


def check_inputs(
    text: TextSection,
    vectors: VectorsSection,
    links: LinksSection | None,
    where: str,
    data_root: str | Path | None = None,
) -> None:
    """Check that files exist, and that the tokenizer fits the vectors and the links."""
    if vectors.source == "transformer":
        why = "is for words; a transformer comes with its own tokenizer, so leave it out"
        _refuse(text, (*_TOKENIZER, "min_count"), why, f"{where}: section [text]: ")
        find_transformer(vectors.file, data_root)
    for file in filter(None, (vectors.file, vectors.words)):
        if vectors.source != "transformer":
            find_file(file, data_root, "vectors")
    if links is None:
        return
    if vectors.source == "transformer":
        raise ConfigError(
            f"{where}: section [links]: links join words, but a transformer has subword tokens; "
            "leave the section out or use word vectors"
        )
    require_whole_words(text.tokenizer, f"{where}: section [links]: ")
    if links.source == "file":
        find_file(links.file, data_root, "links")


def _refuse(
    section: TextSection | VectorsSection, names: tuple[str, ...], why: str, where: str = ""
) -> None:
    """Refuse settings that would have no effect, unless they have their defaults."""
    for field in fields(section):
        value = getattr(section, field.name)
        if field.name in names and value != field.default:
            raise ConfigError(f"{where}{field.name} = {value!r} {why}")


def model_with_links(
    table: Mapping[str, Any], name: str, links: LinksSection | None, where: str
) -> dict[str, Any]:
    """Return the model's settings with `links = "max"` where `[links]` is given without it."""
    entry = MODELS[name]
    mode = {**entry.preset, **table}.get("links")
    if not issubclass(entry.model, UsesWordLinks):
        if links is not None:
            usable = (each for each in MODELS if issubclass(MODELS[each].model, UsesWordLinks))
            raise ConfigError(
                f"{where}: section [links]: {name} cannot use word links, leave the section out; "
                f"models that can: {', '.join(usable)}"
            )
        return dict(table)
    if links is None and mode not in (None, "none"):
        raise ConfigError(
            f"{where}: model.links = {mode!r} needs the links: add a section [links] with "
            'source = "wordnet", or with source = "file" and file = "PAIRS.tsv"'
        )
    if links is not None and mode == "none":
        raise ConfigError(
            f'{where}: section [links] is given, but model.links = "none" ignores it; '
            'set model.links to "max" or "replace", or leave the section out'
        )
    return dict(table) if links is None else {"links": mode or "max", **table}


def find_file(
    name: str, data_root: str | Path | None, section: Literal["vectors", "links"]
) -> Path:
    """Find a file of word vectors or of word links.

    Args:
        name: A path, or a name under `MATCHWORK_VECTORS`, the data root or the folder `pretrained`
            beside it.
        data_root: Folder that holds the catalogued data sets.
        section: The section of the recipe that names the file.
    """
    for folder in _folders(data_root):
        if (folder / name).is_file():
            return folder / name
    kind = {"vectors": "word-vector file", "links": "file of word links"}[section]
    raise DataError(
        f"no {kind} {name!r}; set {VECTORS_VARIABLE} to its folder, or give its path "
        f"with --set {section}.file=PATH"
    )


def find_transformer(name: str, data_root: str | Path | None = None) -> str:
    """Find a transformer's folder where `find_file` looks, or return the name of a model."""
    import_transformers()  # without it the folder is of no use
    for folder in _folders(data_root):
        if (folder / name).is_dir():
            return str(folder / name)
    if not _HUB_NAME.fullmatch(name):
        raise DataError(
            f"no folder {name!r} of a transformer; set {VECTORS_VARIABLE} to the folder it is in, "
            "give its path with --set vectors.file=PATH, or name a model of the hub"
        )
    packaged_folder(name)  # its error says what to install
    return name


def _folders(data_root: str | Path | None) -> list[Path]:
    folders = [Path()]
    if folder := os.environ.get(VECTORS_VARIABLE):
        folders.append(Path(folder))
    if root := data_root or os.environ.get(DATA_ROOT_VARIABLE):
        folders += [Path(root), Path(root).resolve().parent / "pretrained"]
    return folders
