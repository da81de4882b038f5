"""The spatial GRU (Wan et al., IJCAI 2016, eq. 3): a recurrence over the word grid of a pair."""

from matchwork.kernels.spatial_gru.engines import ENGINES as ENGINES
from matchwork.kernels.spatial_gru.engines import spatial_gru as spatial_gru
from matchwork.kernels.spatial_gru.rectangles import corner_states as corner_states
from matchwork.kernels.spatial_gru.rectangles import flip_rectangle as flip_rectangle
from matchwork.kernels.spatial_gru.reference import Gates as Gates
from matchwork.kernels.spatial_gru.reference import spatial_gates as spatial_gates
from matchwork.kernels.spatial_gru.weights import Activation as Activation
from matchwork.kernels.spatial_gru.weights import SpatialWeights as SpatialWeights
