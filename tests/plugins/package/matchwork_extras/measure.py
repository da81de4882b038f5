"""A measure: whether the last ranked document is not relevant."""

from matchwork.evaluate import MEASURES, MeasureKind


def _last_is_wrong(grades, judgements):
    return float(grades[-1] <= 0)


MEASURES.add("ExtrasLastWrong", MeasureKind("ranking", _last_is_wrong))
