"""SCORE -> REASONS: explanations of single pairs, and every way to look at them."""

from matchwork.explain import views
from matchwork.explain.codes import CodeMaps
from matchwork.explain.explanation import Explanation, WordPair, WordWeight
from matchwork.explain.export import picture, save
from matchwork.explain.faithfulness import Faithfulness, faithfulness, faithfulness_chart
from matchwork.explain.pair import explain
from matchwork.explain.schema import json_schema
from matchwork.explain.shares import Shares
from matchwork.explain.spans import Span
from matchwork.explain.titles import evidence_title, layer_title
from matchwork.explain.view import VIEWS, View, view_tables
from matchwork.explain.views.answers import answers
from matchwork.explain.views.codes import code_strip
from matchwork.explain.views.gates import word_gates
from matchwork.explain.views.layers import LayerSummary, layer_summaries
from matchwork.explain.views.paths import MatchingPath, matching_paths
from matchwork.explain.views.phrases import LevelMatches, PhraseMatch, phrase_matches
from matchwork.explain.views.reading import reading_bars
from matchwork.explain.views.shares import share_bars
from matchwork.explain.views.tables import (
    gate_strip,
    heat_map,
    heat_maps,
    layer_strip,
    level_strip,
    outstanding_strip,
)
from matchwork.explain.views.texts import Highlight, word_strip
from matchwork.explain.views.words import Contributions, contribution_bars, contributions, sum_line
from matchwork.packages import make_callable

__all__ = [
    "VIEWS",
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
    "View",
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
    "view_tables",
    "views",
    "word_gates",
    "word_strip",
]

make_callable(__name__)
