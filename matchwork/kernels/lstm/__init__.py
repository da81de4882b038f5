"""LSTM over whole sequences: fused steps, and Triton kernels on a GPU."""
