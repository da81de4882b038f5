"""RESULTS -> INSIGHT: where a matcher is good, and whether it learnt what it is said to learn."""

from matchwork.analyse.analysis import Analysis
from matchwork.analyse.groups import Difference, Estimate, Group
from matchwork.analyse.out_of_vocabulary import OutOfVocabulary, out_of_vocabulary
from matchwork.analyse.overlap import Overlap, overlap
from matchwork.analyse.smoothing import (
    Smoothing,
    Smoothness,
    SplitSmoothing,
    matching_matrices,
    smoothing,
)
from matchwork.analyse.tagging import PatternTagger, Tagger

__all__ = [
    "Analysis",
    "Difference",
    "Estimate",
    "Group",
    "OutOfVocabulary",
    "Overlap",
    "PatternTagger",
    "Smoothing",
    "Smoothness",
    "SplitSmoothing",
    "Tagger",
    "matching_matrices",
    "out_of_vocabulary",
    "overlap",
    "smoothing",
]
