"""Matchers: a tokenizer and a model that score, rank, save and load text."""

from matchwork.matcher.matcher import Matcher

__all__ = ["Matcher"]
