"""IASM: interactive attention over a word-matching matrix with a two-channel distance."""

from matchwork.models.iasm.model import IASM, IASMConfig

__all__ = ["IASM", "IASMConfig"]
