"""The parts that make up a matcher, as folders hold them."""

from dataclasses import dataclass

from matchwork.models import Model
from matchwork.rank.calibration import AnyCalibration
from matchwork.text import Tokenizer


@dataclass(frozen=True, kw_only=True)
class MatcherParts:
    """A tokenizer, a model and how they are used.

    Attributes:
        tokenizer: Splits texts into tokens.
        model: Scores tokenised pairs.
        name: The name in tables and run files; None: that of the registered model.
        calibration: Maps scores to probabilities.
        max_query_length: Most tokens of a query that are read.
        max_document_length: Most tokens of a document that are read.
        max_pair_length: Most subword tokens of both texts together, for a cross-encoder.
        score_activation: Path in torch.nn of the activation that the authors of a foreign
            cross-encoder put on its logits.
    """

    tokenizer: Tokenizer
    model: Model
    name: str | None = None
    calibration: AnyCalibration | None = None
    max_query_length: int | None = None
    max_document_length: int | None = None
    max_pair_length: int | None = None
    score_activation: str | None = None
