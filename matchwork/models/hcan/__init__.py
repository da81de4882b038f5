"""HCAN: relevance matching and semantic matching on a shared encoder."""

from matchwork.models.hcan.config import HCANConfig
from matchwork.models.hcan.model import HCAN

__all__ = ["HCAN", "HCANConfig"]
