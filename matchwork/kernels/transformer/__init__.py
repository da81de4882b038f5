"""Transformer encoders with little computation on padding."""

from matchwork.kernels.transformer.by_length import distinct_rows as distinct_rows
from matchwork.kernels.transformer.forward import last_hidden_state as last_hidden_state
