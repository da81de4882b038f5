"""The sections of a recipe that say how texts become vectors."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from matchwork.config import later
from matchwork.errors import ConfigError
from matchwork.experiment.vector_files import find_transformer, find_vectors
from matchwork.text import WordTokenizerConfig

_WORD_TOKENIZER = (*(field.name for field in fields(WordTokenizerConfig)), "min_count")
_WORD_VECTORS = ("words", "dim", "unknown", "keep")
_TRANSFORMER = ("unit", "layer", "frame", "joint")


@dataclass(frozen=True, kw_only=True)
class TextSection:
    """The word tokenizer and the length limits (0 = none)."""

    lowercase: bool = True
    strip_accents: bool = True
    punctuation: Literal["drop", "keep"] = "drop"
    stem: str | None = None
    bigrams: bool = False
    min_count: int = 1
    max_query_length: int = 0
    max_document_length: int = 0

    def __post_init__(self) -> None:
        for name in ("min_count", "max_query_length", "max_document_length"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must not be negative, got {getattr(self, name)}")

    def tokenizer(self) -> WordTokenizerConfig:
        """The part that the tokenizer takes."""
        return WordTokenizerConfig(
            lowercase=self.lowercase,
            strip_accents=self.strip_accents,
            punctuation=self.punctuation,
            stem=self.stem,
            bigrams=self.bigrams,
        )


@dataclass(frozen=True, kw_only=True)
class VectorsSection:
    """Where vectors come from: a `file`, the training texts ("corpus"), a hash ("random"), or a
    transformer, whose folder or hub name is the `file`.

    `keep`: every word of the file, or only those of the data set's texts ("data"), which makes
    a smaller matcher that knows fewer words. `unit`, `layer`, `frame` and `joint` are
    those of `load_transformer`.
    """

    source: Literal["random", "file", "corpus", "transformer"] = "random"
    file: str = ""
    words: str = ""
    dim: int = 100
    trainable: bool = False
    unknown: Literal["hash", "const"] = "hash"
    keep: Literal["all", "data"] = "all"
    unit: Literal["piece", "word"] = "piece"
    layer: int = -1
    frame: Literal["around", "before", "token"] = later("around")
    joint: bool = later(False)

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
        if self.joint and self.frame == "token":
            raise ConfigError('joint = true has one [CLS] for both texts; frame = "token" has two')


def check_vectors(
    vectors: VectorsSection, text: TextSection, where: str, data_root: str | Path | None = None
) -> None:
    """Whether the files are there, and the text is cut as the vectors need it."""
    if vectors.source == "transformer":
        why = "is for words; a transformer comes with its own tokenizer, so leave it out"
        _refuse(text, _WORD_TOKENIZER, why, f"{where}: section [text]: ")
        find_transformer(vectors.file, data_root)
    else:
        for file in filter(None, (vectors.file, vectors.words)):
            find_vectors(file, data_root)


def _refuse(
    section: TextSection | VectorsSection, names: tuple[str, ...], why: str, where: str = ""
) -> None:
    """A setting without effect is a mistake of the recipe, unless it has its default."""
    for field in fields(section):
        value = getattr(section, field.name)
        if field.name in names and value != field.default:
            raise ConfigError(f"{where}{field.name} = {value!r} {why}")
