"""A benchmark as a file of its own: `python benchmarks/NAME.py`, on a CPU or a GPU."""

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from benchmarks.figures import Figures
from benchmarks.report import THREADS, print_figures, write_result

CORES = 2


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many of torch's, and as before afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def options(description: str | None) -> ArgumentParser:
    """What all of them understand; `read` checks it."""
    parser = ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--gpu", action="store_true", help="the GPU figures instead of the CPU's")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, only to see it run")
    parser.add_argument("--write", action="store_true", help="keep the result under results/")
    return parser


def read(parser: ArgumentParser) -> Namespace:
    """The options given, if this machine can do that."""
    given = parser.parse_args()
    if given.gpu and not torch.cuda.is_available():
        parser.error("--gpu needs a CUDA device, and torch finds none")
    os.environ[THREADS] = str(CORES)  # what the kept result says of this run
    return given


def tell(name: str, given: Namespace, figures: Figures, purpose: str) -> None:
    """Print the figures, and keep them if that was asked for."""
    name = f"{name}_gpu" if given.gpu else name
    if given.json:
        print(json.dumps({what: figure.to_json() for what, figure in figures.items()}, indent=2))
    else:
        print_figures(name, figures)
    if given.write:
        write_result(name, purpose, figures)


def run_as_file(
    name: str,
    on_cpu: Callable[[bool], Figures],
    on_gpu: Callable[[bool], Figures],
    purposes: tuple[str, str],
) -> None:
    """Measure where it was asked for; `purposes` say what the figures of either machine are."""
    given = read(options(purposes[0]))
    figures = on_gpu(given.quick) if given.gpu else on_cpu(given.quick)
    tell(name, given, figures, purposes[given.gpu])
