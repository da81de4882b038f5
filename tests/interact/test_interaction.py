import pytest
import torch

from matchwork.interact import Evidence, Interaction, LazyMapping, WordWeights


def test_lazy_evidence_is_made_at_the_first_look_and_once() -> None:
    calls = []
    mask = torch.ones(1, 2, dtype=torch.bool)

    def make() -> dict[str, Evidence]:
        calls.append(1)
        return {"second": WordWeights(torch.ones(1, 2), mask, "query"), "first": table}

    table = Interaction(torch.zeros(1, 2, 2), torch.ones(1, 2, 2, dtype=torch.bool))
    evidence = LazyMapping(make)
    assert not calls
    assert evidence["first"] is table
    assert list(evidence) == ["second", "first"] and len(evidence) == 2
    assert "third" not in evidence and dict(evidence)["first"] is table
    assert calls == [1]
    with pytest.raises(KeyError, match="third"):
        evidence["third"]


def test_evidence_fits_its_mask() -> None:
    with pytest.raises(ValueError, match=r"\(batch, query, document\).*\(1, 2, 3\) and \(1, 2\)"):
        Interaction(torch.zeros(1, 2, 3), torch.ones(1, 2, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"\(batch, length\).*\(1, 2\) and \(1, 3\)"):
        WordWeights(torch.zeros(1, 2), torch.ones(1, 3, dtype=torch.bool), "query")
