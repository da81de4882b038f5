"""Matchwork: train, evaluate, explain and serve neural text matchers."""

__version__ = "0.1.0"
