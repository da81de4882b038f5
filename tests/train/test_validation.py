"""Dev after training: ranked again only where weights of an earlier epoch came back."""

import pytest

import matchwork as mw
from matchwork.evaluate.measured_split import MeasuredSplit
from matchwork.train.validation import Validator


@pytest.fixture
def ranked(monkeypatch):
    """Every ranking of a split, as it happens."""
    runs, run = [], MeasuredSplit.run
    monkeypatch.setattr(MeasuredSplit, "run", lambda *given: runs.append(run(*given)) or runs[-1])
    return runs


@pytest.mark.parametrize(("rate", "epochs", "again"), [(1e-2, 1, 0), (1e-12, 2, 1)])
def test_dev_is_ranked_once_where_the_last_epoch_is_the_best(
    questions, matcher, ranked, rate, epochs, again
):
    """Where next to nothing is learnt, all epochs are alike, and the first of them is kept."""
    made = matcher("bag")
    settings = {"max_epochs": epochs, "learning_rate": rate, "dev_measure": "RR"}
    mw.train(made, questions, accelerator="cpu", **settings)
    assert len(ranked) == epochs + again
    found = made.calibration
    Validator(MeasuredSplit(questions["dev"], questions.protocol, ("RR",)), made).calibrate()
    assert made.calibration == found is not None
