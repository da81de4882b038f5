"""A drop-in for sentence-transformers' `CrossEncoder`, with any matcher behind it."""

from matchwork.integrations.sentence_transformers.cross_encoder import CrossEncoder

__all__ = ["CrossEncoder"]
