"""ADDAX: transformer tokens, gated cross attention, a hashing denoiser and MaxSim."""

from matchwork.models.addax.model import ADDAX, AddaxConfig

__all__ = ["ADDAX", "AddaxConfig"]
