"""The section [links] of a recipe: the source of links between words."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from matchwork.errors import ConfigError
from matchwork.experiment.recipe.text import TextSection, VectorsSection
from matchwork.experiment.recipe.vector_files import find_links
from matchwork.models import MODELS
from matchwork.models.iasm.linked_words import LinkedWords, require_whole_words
from matchwork.models.iasm.word_links import UsesWordLinks
from matchwork.text import Tokenizer, WordTokenizer


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
        assert isinstance(tokenizer, WordTokenizer)  # see check_links
        if self.source == "wordnet":
            return LinkedWords.wordnet(tokenizer.vocabulary.words)
        return LinkedWords.read(find_links(self.file, data_root), tokenizer)


def check_links(
    links: LinksSection,
    text: TextSection,
    vectors: VectorsSection,
    where: str,
    data_root: str | Path | None = None,
) -> None:
    """Check that the file exists, and that the tokenizer makes whole words."""
    if vectors.source == "transformer":
        raise ConfigError(
            f"{where}: section [links]: links join words, but a transformer has subword tokens; "
            "leave the section out or use word vectors"
        )
    require_whole_words(text.tokenizer, f"{where}: section [links]: ")
    if links.source == "file":
        find_links(links.file, data_root)


def model_with_links(
    table: Mapping[str, Any], name: str, links: LinksSection | None, where: str
) -> dict[str, Any]:
    """Return the model's settings with `links = "max"` where `[links]` is given without it."""
    entry = MODELS[name]
    mode = {**entry.preset, **table}.get("links")
    if not issubclass(entry.model, UsesWordLinks):
        if links is not None:
            usable = (each for each in MODELS if issubclass(MODELS[each].model, UsesWordLinks))
            known = ", ".join(usable)
            raise ConfigError(
                f"{where}: section [links]: {name} cannot use word links, leave the section out; "
                f"models that can: {known}"
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
