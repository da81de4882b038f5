"""Matchers: a tokenizer and a model that score, rank, save and load text."""

from typing import TYPE_CHECKING

from matchwork.packages import lazy_names

if TYPE_CHECKING:
    from matchwork.matcher.matcher import Matcher as Matcher
    from matchwork.matcher.opening import load as load

__getattr__ = lazy_names(
    __name__, {"Matcher": "matchwork.matcher.matcher", "load": "matchwork.matcher.opening"}
)
