"""Matchers: a tokenizer and a model that score, rank, save and load text."""

from matchwork.matcher.matcher import Matcher
from matchwork.matcher.opening import load

__all__ = ["Matcher", "load"]
