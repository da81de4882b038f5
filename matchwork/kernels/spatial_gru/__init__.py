"""The spatial GRU: a recurrence over the word grid of a pair of texts.

Every cell reads the states of its left, top and diagonal neighbours (Match-SRNN, Wan et al.,
IJCAI 2016, eq. 3). `spatial_gru` computes it by one of several engines, which give equal numbers
at different speeds.
"""

from matchwork.kernels.spatial_gru.engines import ENGINES, spatial_gru
from matchwork.kernels.spatial_gru.gates import Gates, spatial_gates
from matchwork.kernels.spatial_gru.rectangles import corner_states, flip_rectangle
from matchwork.kernels.spatial_gru.weights import Activation, SpatialWeights

__all__ = [
    "ENGINES",
    "Activation",
    "Gates",
    "SpatialWeights",
    "corner_states",
    "flip_rectangle",
    "spatial_gates",
    "spatial_gru",
]
