"""Match-SRNN: a neural tensor and a spatial GRU over the word grid."""

from matchwork.models.match_srnn.model import MatchSRNN, MatchSRNNConfig

__all__ = ["MatchSRNN", "MatchSRNNConfig"]
