"""What a seed gave, read back from disk; also from files of before probabilities were checked."""

import json

from matchwork.evaluate import evaluate, reliability
from matchwork.experiment.outcome import ConditionOutcome

EVALUATION = evaluate({"q": {"a": 1.0, "b": 0.5}}, {"q": {"a": 1}}, ["RR"])


def test_reliability_comes_back_and_may_be_missing():
    outcome = ConditionOutcome({"bag": EVALUATION}, reliability=reliability([0.2, 0.9], [0, 1]))
    table = json.loads(json.dumps(outcome.to_dict()))
    assert ConditionOutcome.from_dict(table).reliability == outcome.reliability
    del table["reliability"]
    older = ConditionOutcome.from_dict(table)
    assert older.reliability is None and older.to_dict() == table
