"""The questions of the IASM paper: unknown words, shared words, smoothing of matrices."""

from matchwork.studies.iasm.analysis import Analysis as Analysis
from matchwork.studies.iasm.out_of_vocabulary import out_of_vocabulary as out_of_vocabulary
from matchwork.studies.iasm.overlap import overlap as overlap
from matchwork.studies.iasm.smoothing import matching_matrices as matching_matrices
from matchwork.studies.iasm.smoothing import smoothing as smoothing
from matchwork.studies.iasm.tagging import PatternTagger as PatternTagger
