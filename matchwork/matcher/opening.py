"""Opening anything that scores; BM25 needs no torch."""

from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING

from matchwork.types import Scorer

if TYPE_CHECKING:
    from matchwork.matcher.precision import Precision


def is_bm25(name: str | Path) -> bool:
    """Return whether a name stands for BM25 fitted on the documents of each call."""
    return str(name).lower() == "bm25" and not isdir(name)


def load(
    name_or_path: str | Path, *, device: str | None = None, precision: "Precision" = "32"
) -> Scorer:
    """Open a scorer.

    Args:
        name_or_path: One of

            - the folder of a saved matcher or of a saved BM25 index;
            - a bi-encoder or cross-encoder of the sentence-transformers library: a folder, or
              OWNER/NAME on the Hugging Face hub;
            - "NAME-maxsim" or "NAME-cosine": the transformer NAME ("minilm", a folder, a name on
              the hub), whose tokens are matched one by one, or with one vector per text;
            - "bm25": BM25 with the word statistics of the documents that are scored together.

            A path that does not exist is an error; OWNER/NAME is looked up on the hub only if there
            is no folder OWNER here.
        device: Where a matcher runs; None: the GPU if there is one (not for int8), else the CPU.
        precision: "32", "bf16" or "int8"; see `Matcher.to`. BM25 has neither device nor precision.

    Raises:
        FolderError: There is no such folder, or it is incomplete, damaged or of another format.
        DataError: A model of another library that cannot be read.
        ConfigError: A device or precision that the machine or the model does not have.
    """
    if is_bm25(name_or_path):
        from matchwork.rank.candidate_bm25 import CandidateBM25

        return CandidateBM25()
    from matchwork.matcher.matcher import Matcher
    from matchwork.matcher.sources import read_source
    from matchwork.rank.bm25 import BM25

    source = read_source(name_or_path)
    return source if isinstance(source, BM25) else Matcher.open(source, device, precision)
