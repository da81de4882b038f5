"""HCAN (code preset, deep encoder) as one would first write it, with the weights of another."""

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from matchwork.encode import Encoded
from matchwork.models import HCAN
from matchwork.models.hcan.recurrent import BiLSTM


class PlainHCAN(nn.Module):
    """Level by level: all of H is concatenated and read by torch's own LSTM.

    Not `packed`, texts must all be as long as their batch is wide.
    """

    def __init__(self, model: HCAN, packed: bool = True) -> None:
        super().__init__()
        self.packed = packed
        self.convolutions = nn.ModuleList(
            layer.get_submodule("convolution") for layer in model.levels.layers
        )
        self.matching = model.semantic
        self.lstms = nn.ModuleList(_with_weights(model.semantic.lstm))
        self.head = model.head
        self.missing = model.config.query_length

    def forward(self, query: Encoded, document: Encoded) -> Tensor:
        """Scores: log odds of class 1."""
        queries, documents = self._levels(query), self._levels(document)
        cells = query.mask.unsqueeze(-1) & document.mask.unsqueeze(-2)
        relevance, semantic = [], []
        for q, d in zip(queries, documents, strict=True):
            table = _softmax(q @ d.mT, cells, -2)
            largest = table.masked_fill(~cells, -torch.inf).amax(-1)
            largest = largest.masked_fill(~query.mask, 0.0)
            relevance.append(functional.pad(largest, (0, self.missing - largest.shape[1])))
        for level in range(len(self.lstms)):
            semantic.append(self._semantic(level, queries[level + 1], documents[level + 1], cells))
        logits: Tensor = self.head(torch.cat(relevance + semantic, dim=-1))
        return logits[:, 1] - logits[:, 0]

    def _levels(self, text: Encoded) -> list[Tensor]:
        levels, words = [text.vectors], text.mask.unsqueeze(-1)
        for convolution in self.convolutions:
            made = convolution(functional.pad(levels[-1].transpose(1, 2), (0, 1)))
            levels.append(torch.relu(made).transpose(1, 2) * words)
        return levels

    def _semantic(self, level: int, q: Tensor, d: Tensor, cells: Tensor) -> Tensor:
        own = self.matching
        scores = (q @ own.query[level]).unsqueeze(-1) + (d @ own.document[level]).unsqueeze(-2)
        scores = scores + q @ own.bilinear[level] @ d.transpose(1, 2)
        seen = _softmax(scores, cells, -2).transpose(1, 2) @ q
        mask = cells.any(1)
        best = scores.masked_fill(~cells, -torch.inf).amax(1)
        summary = (_softmax(best, mask, -1).unsqueeze(1) @ d).expand_as(d)
        read = torch.cat([d, seen, d * seen, summary * seen], dim=-1).relu()
        if self.packed:
            packed = pack_padded_sequence(
                read, mask.sum(1).cpu(), batch_first=True, enforce_sorted=False
            )
            states, _ = pad_packed_sequence(
                self.lstms[level](packed)[0], batch_first=True, total_length=d.shape[1]
            )
        else:
            states = self.lstms[level](read)[0]
        words = mask.unsqueeze(-1)
        largest = states.masked_fill(~words, -torch.inf).amax(1)
        return torch.cat([largest, (states * words).sum(1) / words.sum(1)], dim=-1)


def _softmax(scores: Tensor, mask: Tensor, dim: int) -> Tensor:
    lowest = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~mask, lowest), dim=dim) * mask


def _with_weights(own: BiLSTM) -> list[nn.LSTM]:
    """One LSTM of torch for each stack."""
    made = []
    for weight, recurrent, bias in zip(own.weight, own.recurrent, own.bias, strict=True):
        lstm = nn.LSTM(len(weight), recurrent.shape[1], batch_first=True, bidirectional=True)
        with torch.no_grad():
            for direction, suffix in enumerate(("", "_reverse")):
                getattr(lstm, f"weight_ih_l0{suffix}").copy_(weight.chunk(2, 1)[direction].T)
                getattr(lstm, f"weight_hh_l0{suffix}").copy_(recurrent[direction].T)
                getattr(lstm, f"bias_ih_l0{suffix}").copy_(bias.chunk(2)[direction])
                getattr(lstm, f"bias_hh_l0{suffix}").zero_()
        made.append(lstm.to(weight.device))
    return made
