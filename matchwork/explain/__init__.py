"""SCORE -> REASONS: explanations of single pairs, their pictures, and report pages."""

from matchwork.explain.answers import answers
from matchwork.explain.code_charts import code_strip, word_gates
from matchwork.explain.codes import CodeMaps
from matchwork.explain.contributions import Contributions, contributions, sum_line
from matchwork.explain.explanation import Explanation, WordPair, WordWeight, explain
from matchwork.explain.export import save
from matchwork.explain.faithfulness import Faithfulness, faithfulness
from matchwork.explain.faithfulness_charts import faithfulness_chart
from matchwork.explain.heat_maps import (
    gate_strip,
    heat_map,
    heat_maps,
    layer_strip,
    level_strip,
    outstanding_strip,
)
from matchwork.explain.highlight import Highlight
from matchwork.explain.layers import LayerSummary, layer_summaries
from matchwork.explain.paths import MatchingPath, matching_paths
from matchwork.explain.phrases import LevelMatches, PhraseMatch, phrase_matches
from matchwork.explain.picture import picture
from matchwork.explain.reading_charts import reading_bars
from matchwork.explain.schema import json_schema
from matchwork.explain.share_charts import share_bars
from matchwork.explain.shares import Shares
from matchwork.explain.spans import Span
from matchwork.explain.titles import evidence_title, layer_title
from matchwork.explain.word_charts import contribution_bars, word_strip
from matchwork.packages import make_callable

__all__ = [
    "CodeMaps",
    "Contributions",
    "Explanation",
    "Faithfulness",
    "Highlight",
    "LayerSummary",
    "LevelMatches",
    "MatchingPath",
    "PhraseMatch",
    "Shares",
    "Span",
    "WordPair",
    "WordWeight",
    "answers",
    "code_strip",
    "contribution_bars",
    "contributions",
    "evidence_title",
    "explain",
    "faithfulness",
    "faithfulness_chart",
    "gate_strip",
    "heat_map",
    "heat_maps",
    "json_schema",
    "layer_strip",
    "layer_summaries",
    "layer_title",
    "level_strip",
    "matching_paths",
    "outstanding_strip",
    "phrase_matches",
    "picture",
    "reading_bars",
    "save",
    "share_bars",
    "sum_line",
    "word_gates",
    "word_strip",
]

make_callable(__name__)
