"""`python -m benchmarks [NAME…] [--quick]`: measure, print, keep."""

import importlib
import os
from argparse import ArgumentParser

from benchmarks.report import THREADS, print_figures, write_result

NAMES = (
    *("startup", "tokenizing", "pair_file", "data_work", "training"),
    *("forward", "spatial_gru", "hcan", "iam", "rerank", "fine_tuning", "scoring", "bm25"),
    *("score_file", "serve"),
)


def main() -> None:
    """Run all benchmarks, or those that were named."""
    parser = ArgumentParser(prog="python -m benchmarks", description="Speed and memory.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is written")
    given = parser.parse_args()
    if unknown := set(given.names).difference(NAMES):
        parser.error(
            f"no benchmark named {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}"
        )
    # Before torch is loaded, and for every child: on a busy machine threads wait for each other.
    os.environ.setdefault(THREADS, "1")
    for name in given.names or NAMES:
        benchmark = importlib.import_module(f"benchmarks.{name}")
        figures = benchmark.run(given.quick)
        print_figures(name, figures)
        if not given.quick:
            write_result(name, str(benchmark.__doc__).strip(), figures)


if __name__ == "__main__":
    main()
