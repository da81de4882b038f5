"""Measure whether Match-SRNN has learnt the recursion of the longest common subsequence.

`python lcs_figures.py RUN... [--out FILE.json]` prints four figures for each run. RUN is a folder
from `matchwork train recipes/lcs/....toml`, with a trained matcher for every seed.
"""

from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

import matchwork as mw
from matchwork.data.sets.lcs import lcs
from matchwork.experiment.environment import commit, versions
from matchwork.files import read_json, write_json
from matchwork.studies.match_srnn import lcs_figures


def measure(run: Path) -> dict[str, Any]:
    """The four figures of every seed on the test pairs, their means, and what made them."""
    test, recipe = lcs()["test"], read_json(run / "recipe.json")
    seeds = {
        folder.name: asdict(lcs_figures(mw.Matcher.load(folder / "matcher"), test))
        for folder in sorted(run.glob("seed-*"))
    }
    names = next(iter(seeds.values()))
    return {
        "settings": recipe["settings"],
        "mean": {name: fmean(figures[name] for figures in seeds.values()) for name in names},
        "seeds": seeds,
    }


def main() -> None:
    """Print the means; keep everything in a file if one is named."""
    parser = ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    given = parser.parse_args()
    found = {run.name: measure(run) for run in given.runs}
    for name, result in found.items():
        print(name, ", ".join(f"{what} {value:.5f}" for what, value in result["mean"].items()))
    if given.out:
        made_with = {"commit": commit(), "versions": versions()}
        write_json(given.out, {"dataset": "lcs", "split": "test", "runs": found, **made_with})


if __name__ == "__main__":
    main()
