"""VECTORS x VECTORS -> INTERACTION: tables of query words against document words."""

from matchwork.interact import spatial_gru
from matchwork.interact.distance import matrix_distance, row_agreements, row_distances
from matchwork.interact.energy import AdjacentEnergy, neighbours
from matchwork.interact.exact_energy import exact_loss, log_partition
from matchwork.interact.grid_cnn import GridCNN
from matchwork.interact.hashing import Hashed, HashingDenoiser
from matchwork.interact.indicator import same_words
from matchwork.interact.interaction import (
    Codes,
    Evidence,
    Interaction,
    LazyEvidence,
    LazyMapping,
    Side,
    WordWeights,
)
from matchwork.interact.interactive_attention import Attended, InteractiveAttention
from matchwork.interact.mag_cell import MagCell, MagOutput
from matchwork.interact.masked import attend, masked_max, masked_mean, masked_softmax
from matchwork.interact.max_sim import MaxSim, max_sim
from matchwork.interact.neural_tensor import NeuralTensor
from matchwork.interact.part_means import PartMeans
from matchwork.interact.phrase_weights import PhraseWeights
from matchwork.interact.relevance import Relevance, relevance
from matchwork.interact.semantic import CoAttention, SemanticMatching
from matchwork.interact.similarity import cosine, cosine_table, row_lengths
from matchwork.interact.tf_idf import TfIdf, WordBag
from matchwork.interact.word_links import WordLinks

__all__ = [
    "AdjacentEnergy",
    "Attended",
    "CoAttention",
    "Codes",
    "Evidence",
    "GridCNN",
    "Hashed",
    "HashingDenoiser",
    "Interaction",
    "InteractiveAttention",
    "LazyEvidence",
    "LazyMapping",
    "MagCell",
    "MagOutput",
    "MaxSim",
    "NeuralTensor",
    "PartMeans",
    "PhraseWeights",
    "Relevance",
    "SemanticMatching",
    "Side",
    "TfIdf",
    "WordBag",
    "WordLinks",
    "WordWeights",
    "attend",
    "cosine",
    "cosine_table",
    "exact_loss",
    "log_partition",
    "masked_max",
    "masked_mean",
    "masked_softmax",
    "matrix_distance",
    "max_sim",
    "neighbours",
    "relevance",
    "row_agreements",
    "row_distances",
    "row_lengths",
    "same_words",
    "spatial_gru",
]
