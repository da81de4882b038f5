"""Vectors to interactions: tables of query words by document words, and operations on them."""

from matchwork.interact.interaction import Codes as Codes
from matchwork.interact.interaction import Evidence as Evidence
from matchwork.interact.interaction import Interaction as Interaction
from matchwork.interact.interaction import LazyMapping as LazyMapping
from matchwork.interact.interaction import WordWeights as WordWeights
from matchwork.interact.masked import attend as attend
from matchwork.interact.masked import masked_max as masked_max
from matchwork.interact.masked import masked_mean as masked_mean
from matchwork.interact.masked import masked_softmax as masked_softmax
from matchwork.interact.max_sim import MaxSim as MaxSim
from matchwork.interact.max_sim import max_sim as max_sim
from matchwork.interact.similarity import ScoreLayer as ScoreLayer
from matchwork.interact.similarity import cosine as cosine
from matchwork.interact.similarity import cosine_table as cosine_table
from matchwork.interact.similarity import pair_mask as pair_mask
from matchwork.interact.similarity import row_lengths as row_lengths
from matchwork.interact.similarity import same_words as same_words
from matchwork.interact.similarity import unit_rows as unit_rows
