"""The questions of the IASM paper: unknown words, shared words, smoothing of matrices."""

from matchwork.studies.iasm.analysis import Analysis as Analysis
from matchwork.studies.iasm.groups import Difference as Difference
from matchwork.studies.iasm.groups import Estimate as Estimate
from matchwork.studies.iasm.groups import Group as Group
from matchwork.studies.iasm.out_of_vocabulary import OutOfVocabulary as OutOfVocabulary
from matchwork.studies.iasm.out_of_vocabulary import out_of_vocabulary as out_of_vocabulary
from matchwork.studies.iasm.overlap import Overlap as Overlap
from matchwork.studies.iasm.overlap import overlap as overlap
from matchwork.studies.iasm.smoothing import Smoothing as Smoothing
from matchwork.studies.iasm.smoothing import Smoothness as Smoothness
from matchwork.studies.iasm.smoothing import SplitSmoothing as SplitSmoothing
from matchwork.studies.iasm.smoothing import matching_matrices as matching_matrices
from matchwork.studies.iasm.smoothing import smoothing as smoothing
from matchwork.studies.iasm.tagging import PatternTagger as PatternTagger
from matchwork.studies.iasm.tagging import Tagger as Tagger
