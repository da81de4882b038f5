"""Bidirectional LSTMs over whole texts: fused steps on a CPU, cuDNN or Triton on a GPU.

Several stacks, that is independent LSTMs, read at once. Gates are in the order input, forget,
cell, output; the forward direction comes first.
"""

from matchwork.kernels.lstm.gpu import states_on_gpu as states_on_gpu
from matchwork.kernels.lstm.steps import states_of as states_of
