"""SCORE -> REASONS: explanations of single pairs, and every way to look at them."""

from matchwork.explain import views as views
from matchwork.explain.explanation import Explanation as Explanation
from matchwork.explain.explanation import WordPair as WordPair
from matchwork.explain.explanation import WordWeight as WordWeight
from matchwork.explain.export import picture as picture
from matchwork.explain.export import save as save
from matchwork.explain.faithfulness import Faithfulness as Faithfulness
from matchwork.explain.faithfulness import faithfulness as faithfulness
from matchwork.explain.faithfulness import faithfulness_chart as faithfulness_chart
from matchwork.explain.pair import explain as explain
from matchwork.explain.schema import json_schema as json_schema
from matchwork.explain.shares import Shares as Shares
from matchwork.explain.spans import Span as Span
from matchwork.explain.titles import evidence_title as evidence_title
from matchwork.explain.titles import layer_title as layer_title
from matchwork.explain.view import VIEWS as VIEWS
from matchwork.explain.view import View as View
from matchwork.explain.view import view_tables as view_tables
from matchwork.explain.views.answers import answers as answers
from matchwork.explain.views.codes import code_strip as code_strip
from matchwork.explain.views.gates import word_gates as word_gates
from matchwork.explain.views.layers import layer_summaries as layer_summaries
from matchwork.explain.views.paths import matching_paths as matching_paths
from matchwork.explain.views.phrases import phrase_matches as phrase_matches
from matchwork.explain.views.reading import reading_bars as reading_bars
from matchwork.explain.views.shares import share_bars as share_bars
from matchwork.explain.views.tables import heat_map as heat_map
from matchwork.explain.views.tables import heat_maps as heat_maps
from matchwork.explain.views.tables import layer_strip as layer_strip
from matchwork.explain.views.tables import outstanding_strip as outstanding_strip
from matchwork.explain.views.texts import Highlight as Highlight
from matchwork.explain.views.texts import word_strip as word_strip
from matchwork.explain.views.words import contribution_bars as contribution_bars
from matchwork.explain.views.words import contributions as contributions
from matchwork.explain.views.words import sum_line as sum_line
from matchwork.packages import make_callable

make_callable(__name__)
