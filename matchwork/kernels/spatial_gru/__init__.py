"""A gated recurrence over the word grid: every cell reads its left, top and diagonal neighbour.

The equations are those of Match-SRNN (Wan et al., IJCAI 2016, eq. 3). `spatial_gru` is the one
door; the engines behind it give the same numbers at different speeds.
"""

from matchwork.kernels.spatial_gru.engines import ENGINES
from matchwork.kernels.spatial_gru.front import spatial_gru
from matchwork.kernels.spatial_gru.gates import Gates, spatial_gates
from matchwork.kernels.spatial_gru.rectangles import corner_states, flip_rectangle
from matchwork.kernels.spatial_gru.weights import Activation, SpatialWeights
from matchwork.packages import make_callable

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
make_callable(__name__)
