"""A loss: the squared hinge of positives and negatives of a group."""

import torch

from matchwork.train import register_loss


@register_loss("extras-squared-hinge", needs_negatives=True)
def squared_hinge(scores, labels, mask, *, margin):
    """Return the mean over negatives of the squared violation of the margin."""
    terms = torch.relu(margin + scores[:, 1:] - scores[:, :1]) ** 2
    return terms.masked_fill(~mask[:, 1:], 0.0).mean()
