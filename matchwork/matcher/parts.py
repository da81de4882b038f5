"""The parts that make up a matcher, as folders hold them."""

from dataclasses import KW_ONLY, dataclass

from matchwork.config import to_table
from matchwork.errors import ConfigError
from matchwork.models import MODELS, Model, ModelConfig
from matchwork.rank.calibration import AnyCalibration
from matchwork.text import Tokenizer


@dataclass(eq=False)
class MatcherParts:
    """A tokenizer, a model and how they are used.

    Attributes:
        tokenizer: Splits texts into tokens.
        model: Scores tokenised pairs.
        name: The name in tables and run files; "" stands for the model's registered name.
        calibration: Maps scores to probabilities; None: the matcher gives none.
        max_query_length: Most tokens of a query that are read; None: any number.
        max_document_length: Most tokens of a document that are read; None: any number.
        max_pair_length: Most subword tokens of both texts together, for a cross-encoder.
        score_activation: Path in torch.nn of the activation that the authors of a foreign
            cross-encoder put on its logits.
    """

    tokenizer: Tokenizer
    model: Model
    _: KW_ONLY
    name: str = ""
    calibration: AnyCalibration | None = None
    max_query_length: int | None = None
    max_document_length: int | None = None
    max_pair_length: int | None = None
    score_activation: str | None = None

    def __post_init__(self) -> None:
        """Fill in the name, and lower length limits to what the model can read."""
        expected = getattr(self.model.encoder.config, "vocab_size", self.tokenizer.vocab_size)
        if expected != self.tokenizer.vocab_size:  # it would score nonsense, silently
            raise ConfigError(
                f"the tokenizer knows {self.tokenizer.vocab_size} words, the encoder {expected}; "
                "make the encoder from the tokenizer's vocabulary"
            )
        self.name = self.name or registered_name(self.model) or type(self.model).__name__
        self.max_query_length, self.max_document_length = length_limits(
            self.model.config, self.max_query_length, self.max_document_length
        )


def length_limits(
    config: ModelConfig, query: int | None = None, document: int | None = None
) -> tuple[int | None, int | None]:
    """Return the most tokens of a query and of a document: the wanted or the model's limit."""
    sides = (query, config.max_query_length), (document, config.max_document_length)
    query_limit, document_limit = (min(filter(None, limits), default=None) for limits in sides)
    return query_limit, document_limit


def registered_name(model: Model) -> str | None:
    """Return the registered name of a model's class and preset; of several, the most specific."""
    settings = to_table(model.config)
    fitting = [
        name
        for name in MODELS
        if type(model) is MODELS[name].model and MODELS[name].preset.items() <= settings.items()
    ]
    return max(fitting, key=lambda name: len(MODELS[name].preset), default=None)
