"""Mean features of a model's parts, to compute the score of one part alone."""

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn

Features = Mapping[str, Tensor]


class FeatureMeans(nn.Module):
    """Mean features of each part by its name, in buffers; zero until fitted or loaded."""

    def __init__(self, shapes: Mapping[str, Sequence[int]]) -> None:
        super().__init__()
        for part, shape in shapes.items():
            self.register_buffer(part, torch.zeros(*shape))

    @torch.no_grad()
    def fit(self, batches: Iterable[Features]) -> None:
        """Average features of shape (batch, ...) over all rows of all batches."""
        means = dict(self.named_buffers())
        sums = {part: torch.zeros_like(mean, dtype=torch.float64) for part, mean in means.items()}
        num_rows = 0
        for features in batches:
            for part, total in sums.items():
                total += features[part].double().sum(dim=0)
            num_rows += len(next(iter(features.values())))
        for part, mean in means.items():
            mean.copy_(sums[part] / max(1, num_rows))

    def hold(self, features: Features) -> dict[str, dict[str, Tensor]]:
        """Return each part's features with the means of all others; nothing until fitted."""
        if not any(bool(mean.any()) for mean in self.buffers()):
            return {}
        usual = {part: mean.expand_as(features[part]) for part, mean in self.named_buffers()}
        alone = {part: {**usual, part: features[part]} for part in usual}
        return {**alone, "neither": usual}
