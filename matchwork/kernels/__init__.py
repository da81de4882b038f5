"""Hand-written kernels: faster or leaner versions of plain PyTorch, equal to rounding.

`disabled()` or the environment variable `MATCHWORK_KERNELS=off` runs the plain versions instead.
"""

from matchwork.kernels.switch import KERNELS, Kernel, disabled, enabled, kernel

__all__ = ["KERNELS", "Kernel", "disabled", "enabled", "kernel"]
