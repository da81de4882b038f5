"""HCAN: relevance matching and semantic matching on a shared hybrid encoder."""

from matchwork.models.hcan.model import HCAN, HCANConfig

__all__ = ["HCAN", "HCANConfig"]
