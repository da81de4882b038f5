"""A model in a package outside the tree: one file, and everything that names models knows it."""

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from matchwork.encode import WordEmbedding
from matchwork.explain import evidence_title
from matchwork.matcher import Matcher
from matchwork.models import MODELS, MatchModel, PairModel
from matchwork.plugins import import_plugins
from matchwork.text import WordTokenizer

PACKAGE = '''
    """Two models of somebody else."""

    from dataclasses import dataclass
    from typing import ClassVar

    import torch
    from torch import nn

    from matchwork.inputs import require_positive
    from matchwork.interact import cosine, masked_max, masked_mean
    from matchwork.models import MatchModel, MatchOutput, ModelConfig, PairModel, register


    @dataclass(frozen=True, kw_only=True)
    class NearestConfig(ModelConfig):
        """Settings.

        Attributes:
            power: Exponent of cosines.
        """

        power: float = 1.0

        def __post_init__(self):
            require_positive(self, "power")


    @register("outside-nearest")
    @register("outside-sharp", power=3.0)
    class Nearest(MatchModel):
        """Mean of the nearest cosines."""

        Config = NearestConfig
        evidence_titles: ClassVar = {"nearness_{}": "Nearness in round {}"}

        def __init__(self, config, encoder):
            super().__init__(config, encoder)
            self.scale = nn.Parameter(torch.ones(()))

        def match(self, query, document):
            table = cosine(query, document)
            nearest = masked_max(table.values, table.mask).clamp_min(0) ** self.config.power
            return MatchOutput(self.scale * masked_mean(nearest, query.mask), {"nearness_1": table})


    @register("outside-lengths")
    class Lengths(PairModel):
        """Shorter pairs score higher."""

        Config = ModelConfig

        def forward(self, batch):
            length = batch.query.lengths + batch.document.lengths
            return MatchOutput(-length.to(self.encoder.table.dtype))
'''


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "outside_models.py").write_text(dedent(PACKAGE), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(MODELS, "_entries", dict(MODELS._entries))
    import_plugins(["outside_models"])
    yield
    sys.modules.pop("outside_models")


@pytest.mark.parametrize("name", ["outside-nearest", "outside-sharp", "outside-lengths"])
def test_it_is_saved_opened_and_scores(
    outside: None, tokenizer: WordTokenizer, pairs: list, tmp_path: Path, name: str
) -> None:
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=8, trainable=True)
    matcher = Matcher(tokenizer, MODELS[name].model(MODELS[name].config({}), encoder))
    matcher.save(tmp_path / "matcher")
    again = Matcher.load(tmp_path / "matcher", device="cpu")
    assert again.name == name
    assert again.score(pairs).tolist() == matcher.score(pairs).tolist()
    assert isinstance(again.model, PairModel if name == "outside-lengths" else MatchModel)


def test_its_evidence_has_a_title(outside: None) -> None:
    titles = MODELS["outside-sharp"].model.evidence_titles
    assert evidence_title("nearness_2", titles) == "Nearness in round 2"
