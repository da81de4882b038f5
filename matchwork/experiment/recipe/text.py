"""The sections [text] and [vectors] of a recipe: how texts become tokens, and tokens vectors."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from matchwork.errors import ConfigError
from matchwork.experiment.recipe.vector_files import find_transformer, find_vectors
from matchwork.text import WordTokenizerConfig

_TOKENIZER = tuple(field.name for field in fields(WordTokenizerConfig))
_WORD_VECTORS = ("words", "dim", "unknown", "vocabulary")
_TRANSFORMER = ("unit", "layer", "special_tokens", "cross_encode")


@dataclass(frozen=True, kw_only=True)
class TextSection(WordTokenizerConfig):
    """Settings of the word tokenizer, and limits.

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
        words: File with the words of a matrix, one a line.
        dim: Width of vectors that are not read from a file.
        trainable: Whether training changes the vectors.
        unknown: Vectors of words that have none: one each ("hash"), or the same for all.
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


def check_vectors(
    vectors: VectorsSection, text: TextSection, where: str, data_root: str | Path | None = None
) -> None:
    """Check that the files exist, and that the text is tokenised as the vectors need it.

    Args:
        vectors: The section [vectors].
        text: The section [text].
        where: Names the recipe in messages.
        data_root: Folder that holds the catalogued data sets.
    """
    if vectors.source == "transformer":
        why = "is for words; a transformer comes with its own tokenizer, so leave it out"
        _refuse(text, (*_TOKENIZER, "min_count"), why, f"{where}: section [text]: ")
        find_transformer(vectors.file, data_root)
    else:
        for file in filter(None, (vectors.file, vectors.words)):
            find_vectors(file, data_root)


def _refuse(
    section: TextSection | VectorsSection, names: tuple[str, ...], why: str, where: str = ""
) -> None:
    """Refuse settings that would have no effect, unless they have their defaults."""
    for field in fields(section):
        value = getattr(section, field.name)
        if field.name in names and value != field.default:
            raise ConfigError(f"{where}{field.name} = {value!r} {why}")
