"""Results of experiments: JSON with everything behind a number, and the page that lists them."""

from matchwork.experiment.results.page import PAGE, results_page, write_results_page
from matchwork.experiment.results.result import (
    SWEEPS,
    by_condition,
    in_words,
    load_results,
    read_queries,
    read_result,
    without_queries,
    write_result,
)
from matchwork.experiment.results.tables import results_table

__all__ = [
    "PAGE",
    "SWEEPS",
    "by_condition",
    "in_words",
    "load_results",
    "read_queries",
    "read_result",
    "results_page",
    "results_table",
    "without_queries",
    "write_result",
    "write_results_page",
]
