"""Stacks of independent bidirectional LSTMs; gates are in the order input, forget, cell, output."""

from matchwork.kernels.lstm.gpu import states_on_gpu as states_on_gpu
from matchwork.kernels.lstm.steps import states_of as states_of
