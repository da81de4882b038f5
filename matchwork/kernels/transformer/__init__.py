"""Transformer encoders with little computation on padding."""

from matchwork.kernels.transformer.by_length import distinct_rows
from matchwork.kernels.transformer.forward import last_hidden_state

__all__ = ["distinct_rows", "last_hidden_state"]
