"""One small matcher, saved, for every framework."""

from pathlib import Path

import pytest
from rerank_texts import QUERY, TEXTS

from matchwork.matcher import Matcher
from matchwork.rank import Calibration


@pytest.fixture
def matcher(tiny_matcher) -> Matcher:
    made: Matcher = tiny_matcher("bag")
    made.calibration = Calibration(slope=0.5, intercept=-4.0)
    return made


@pytest.fixture
def folder(matcher: Matcher, tmp_path: Path) -> Path:
    matcher.save(tmp_path / "bag")
    return tmp_path / "bag"


@pytest.fixture
def expected(matcher: Matcher) -> list[tuple[str, float]]:
    """Texts and their probabilities, best first."""
    ranked = matcher.rerank(QUERY, TEXTS)
    return [(e.document.text, float(matcher.calibration.probability(e.score))) for e in ranked]
