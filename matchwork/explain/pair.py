"""Explaining one pair with a matcher."""

from typing import TYPE_CHECKING

from matchwork.explain.codes import CodeMaps
from matchwork.explain.explanation import Explanation, WordWeight
from matchwork.explain.shares import Shares
from matchwork.explain.titles import evidence_title
from matchwork.report.highlight import Values
from matchwork.types import Side

if TYPE_CHECKING:
    from matchwork.matcher.matcher import Matcher


def explain(matcher: "Matcher", query: str, document: str) -> Explanation:
    """Score one pair and return the score with the evidence behind it."""
    from matchwork.interact import Codes, WordWeights
    from matchwork.text.tokenizer import readable

    query, document = readable(query), readable(document)
    query_tokens, document_tokens = matcher.tokens(query, document)
    lengths: dict[Side, int] = {"query": len(query_tokens), "document": len(document_tokens)}
    output = matcher.output(query, document)
    score = float(output.scores[0])
    calibration = matcher.calibration
    tables: dict[str, Values] = {}
    weights: dict[str, WordWeight] = {}
    phrase_lengths: dict[str, int] = {}
    codes: CodeMaps | None = None
    for name, evidence in output.evidence.items():
        if isinstance(evidence, Codes):
            codes = CodeMaps.of(evidence, lengths[evidence.side])
            continue
        values = evidence.values[0].double().cpu().numpy()
        if isinstance(evidence, WordWeights):
            weights[name] = WordWeight(evidence.side, values[: lengths[evidence.side]])
        else:
            tables[name] = values[: lengths["query"], : lengths["document"]]
            if evidence.phrase_length > 1:
                phrase_lengths[name] = evidence.phrase_length
    titles = matcher.model.evidence_titles
    parts = {name: float(scores[0]) for name, scores in output.parts.items()}
    return Explanation(
        query=query,
        document=document,
        model=matcher.name,
        score=score,
        probability=None if calibration is None else float(calibration.probability(score)),
        query_tokens=tuple(query_tokens),
        document_tokens=tuple(document_tokens),
        tables=tables,
        weights=weights,
        phrase_lengths=phrase_lengths,
        shares=Shares(score, **parts) if parts else None,
        codes=codes,
        titles={name: evidence_title(name, titles) for name in (*tables, *weights)},
    )
