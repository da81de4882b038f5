"""Hand-written kernels: faster or leaner versions of plain PyTorch, equal to rounding."""
