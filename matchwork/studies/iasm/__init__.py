"""The questions of the IASM paper: unknown words, shared words, smoothing of matrices."""

from matchwork.studies.iasm.analysis import Analysis
from matchwork.studies.iasm.groups import Difference, Estimate, Group
from matchwork.studies.iasm.out_of_vocabulary import OutOfVocabulary, out_of_vocabulary
from matchwork.studies.iasm.overlap import Overlap, overlap
from matchwork.studies.iasm.smoothing import (
    Smoothing,
    Smoothness,
    SplitSmoothing,
    matching_matrices,
    smoothing,
)
from matchwork.studies.iasm.tagging import PatternTagger, Tagger

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
