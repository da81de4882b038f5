"""A tokenizer from outside the package: registered, saved with a matcher and opened again."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from matchwork.config import build
from matchwork.encode import WordEmbedding, WordEmbeddingConfig
from matchwork.errors import ConfigError
from matchwork.matcher import Matcher
from matchwork.models import KNRM, KNRMConfig
from matchwork.text import TOKENIZERS, Token, TokenTable


@dataclass(frozen=True)
class CharactersConfig:
    lowercase: bool = True


class Characters:
    """Every character is a token."""

    kind: ClassVar[str] = "characters"
    vocab_size = 256

    def __init__(self, config: CharactersConfig | None = None) -> None:
        self.config = config or CharactersConfig()

    def encode(self, texts: Sequence[str], max_length: int | None = None) -> TokenTable:
        if self.config.lowercase:
            texts = [text.lower() for text in texts]
        rows = [np.array([2 + ord(char) % 254 for char in text], np.int64) for text in texts]
        return TokenTable.from_rows(rows, max_length)

    def tokens(self, text: str, max_length: int | None = None) -> list[Token]:
        return [Token(char, i, i + 1) for i, char in enumerate(text)][:max_length]

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "config": asdict(self.config)}

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> "Characters":
        return cls(build(CharactersConfig, table["config"], "tokenizer config"))


def test_it_opens_with_the_matcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TOKENIZERS, "_entries", dict(TOKENIZERS._entries))
    TOKENIZERS.register("characters")(Characters)
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=256, dim=4))
    tokenizer = Characters(CharactersConfig(lowercase=False))
    matcher = Matcher(tokenizer, KNRM(KNRMConfig(), encoder))
    matcher.save(tmp_path / "matcher")
    opened = Matcher.load(tmp_path / "matcher")
    assert isinstance(opened.tokenizer, Characters)
    assert opened.tokenizer.config == tokenizer.config
    pairs = [("Ab", "bA b"), ("x", "")]
    assert np.array_equal(opened.score(pairs), matcher.score(pairs))


def test_its_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="tokenizer config: unknown key 'lower'; did you mean"):
        Characters.from_dict({"config": {"lower": True}})
