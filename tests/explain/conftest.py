"""Real matchers on a handful of words; untrained weights explain as well as trained ones."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from glacier_pair import DOCUMENT, QUERY, tokens_of
from tiny_transformers import tiny_encoder

from matchwork.encode import Encoder, WordEmbedding
from matchwork.explain import Explanation, WordWeight, evidence_title
from matchwork.matcher import Matcher
from matchwork.models import MODELS, MatchModel
from matchwork.rank.calibration import Calibration
from matchwork.text import WordTokenizer
from matchwork.text.tokenizer import WordTokenizerConfig

IASM_TITLES = {
    name: evidence_title(name, MODELS["iasm-dynamic"].model.evidence_titles)
    for name in ("matching_0", "matching_1", "document_distance")
}
MakeMatcher = Callable[..., Matcher]


@pytest.fixture
def make_matcher() -> MakeMatcher:
    def make(
        name: str, *, bigrams: bool = False, calibrated: bool = False, max_length: int | None = None
    ) -> Matcher:
        torch.manual_seed(0)
        config = WordTokenizerConfig(bigrams=bigrams)
        tokenizer = WordTokenizer.fit([QUERY, DOCUMENT], config=config, min_bigram_count=1)
        entry = MODELS[name]
        encoder: Encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=16)
        if not issubclass(entry.model, MatchModel):
            encoder = tiny_encoder(tokenizer.vocab_size, dim=16)
        return Matcher(
            tokenizer,
            entry.model(entry.config({}), encoder),
            calibration=Calibration(2.0, 0.5) if calibrated else None,
            max_document_length=max_length,
        )

    return make


@pytest.fixture
def handmade() -> Explanation:
    """Two by three words whose best cells are known."""
    return Explanation(
        query="red fox",
        document="fox and Fox",
        model="hand",
        score=0.5,
        probability=None,
        query_tokens=tokens_of("red fox"),
        document_tokens=tokens_of("fox and Fox"),
        tables={"matching_0": np.array([[0.1, -0.7, 0.2], [0.9, 0.0, 0.8]])},
        weights={"document_distance": WordWeight("document", np.array([0.1, 0.6, 0.2]))},
        titles=IASM_TITLES,
    )
