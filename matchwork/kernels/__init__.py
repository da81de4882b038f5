"""Hand-written kernels: faster or leaner versions of plain PyTorch, equal to rounding.

`disabled()` or the environment variable `MATCHWORK_KERNELS=off` runs the plain versions instead.
"""

from matchwork.kernels.switch import KERNELS as KERNELS
from matchwork.kernels.switch import Kernel as Kernel
from matchwork.kernels.switch import disabled as disabled
from matchwork.kernels.switch import enabled as enabled
from matchwork.kernels.switch import kernel as kernel
