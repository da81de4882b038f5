"""Which words of two texts are the same word."""

from torch import Tensor

from matchwork.encode import Encoded
from matchwork.errors import ConfigError


def same_words(query: Encoded, document: Encoded) -> Tensor:
    """True where two words have the same id, shape (batch, query, document); padding is False."""
    if query.ids is None or document.ids is None:
        raise ConfigError(
            "comparing words by id needs an encoder with one vector per word, such as "
            "WordEmbedding; this one gives no word ids: compare vectors by cosine instead"
        )
    same = query.ids.unsqueeze(-1) == document.ids.unsqueeze(-2)
    return same & query.mask.unsqueeze(-1) & document.mask.unsqueeze(-2)
