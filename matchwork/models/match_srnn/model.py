"""Match-SRNN: a neural tensor over all pairs of words, read by a two-dimensional GRU.

Wan, Lan, Xu, Guo, Pang, Cheng, Match-SRNN: Modeling the Recursive Matching Structure with
Spatial RNN, IJCAI 2016, https://arxiv.org/abs/1604.04378. The state of cell (i, j) represents how
well the first i words of the query match the first j of the document; the score is linear in the
state of the last cell.

Departures and resolutions:
- The bias of the tensor is printed outside the relu; it is inside, as in other neural tensor
  networks. `tensor_bias` has the printed form, and the authors' code, which has none.
- The activation of the candidate, phi, is not named: tanh, as in the authors' code.
- Padding: the score is read at the last real cell, and the reverse scan flips each pair within
  its own rectangle.
- Two outputs and a softmax for classification are one output and a sigmoid.
- The authors' code starts from an output weight of zero, so that the first step moves nothing
  else; ours starts from `output_init`. It has a smaller learning rate for word vectors.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from matchwork.encode import Encoded, Encoder
from matchwork.errors import ConfigError
from matchwork.inputs import require_at_least
from matchwork.interact import (
    Evidence,
    Interaction,
    LazyMapping,
    WordWeights,
    cosine_table,
    pair_mask,
    same_words,
)
from matchwork.interact.similarity import ScoreLayer
from matchwork.kernels.spatial_gru import (
    ENGINES,
    Activation,
    SpatialWeights,
    corner_states,
    flip_rectangle,
    spatial_gates,
    spatial_gru,
)
from matchwork.models.base import MatchModel, MatchOutput, ModelConfig, register
from matchwork.models.match_srnn.neural_tensor import NeuralTensor, TensorBias
from matchwork.types import Side

GATES = ("input", "left", "top", "diagonal")
_TITLES = {
    "state": "How well the texts match up to each word pair",
    "gate_input": "Gate of the new match",
    "gate_left": "Gate from the left",
    "gate_top": "Gate from the top",
    "gate_diagonal": "Gate from the diagonal",
}
_BACKWARDS = ", read backwards"


@dataclass(frozen=True, kw_only=True)
class MatchSRNNConfig(ModelConfig):
    """Settings of `MatchSRNN`; biases start at zero."""

    # values of a word pair: a neural tensor, cosine, dot product, or 1 for the same word
    interaction: Literal["tensor", "cosine", "dot", "indicator"] = "tensor"
    channels: int = 10  # number of values of the tensor
    tensor_bias: TensorBias = "inside"  # position of the tensor's bias, see `NeuralTensor`
    tied: bool = False  # same linear weights of the tensor for both words
    direction: Literal["forward", "both"] = "forward"  # "both": from the last words, too
    units: int = 10  # width of the states
    gates: Literal["full", "shared"] = "full"  # one gate per unit, or one for all units
    reset: bool = True  # use reset gates
    activation: Activation = "tanh"  # activation of the candidate
    head: Literal["linear", "state"] = "linear"  # of the last state; "state": of one unit
    init: float = 0.1  # bound of the uniform initial weights of gates and linear parts
    tensor_init: float = 0.03  # bound of the tensor's
    output_init: float = 0.1  # bound of the score's
    engine: str = "auto"  # implementation of the spatial GRU, see `matchwork.kernels.spatial_gru`

    def __post_init__(self) -> None:
        require_at_least(self, 1, "channels", "units")
        require_at_least(self, 0, "init", "tensor_init", "output_init")
        if self.engine != "auto":
            ENGINES[self.engine]  # raises UnknownNameError
        if self.head == "state" and (self.units > 1 or self.direction == "both"):
            raise ConfigError(
                'head = "state" uses the state as the score, which needs units = 1 and '
                f'direction = "forward", got {self.units} and {self.direction!r}'
            )


@register("match-srnn", direction="forward")
@register("bi-match-srnn", direction="both")
class MatchSRNN(MatchModel):
    """Score = W_s [h of the last cell; h of the first cell in the reverse scan] + b_s.

    `gru` holds the fields of `SpatialWeights`, each with a first axis of directions.
    """

    Config: ClassVar[type[ModelConfig]] = MatchSRNNConfig
    config: MatchSRNNConfig
    evidence_titles: ClassVar[dict[str, str]] = {
        "interaction": "How strongly each word pair interacts",
        **_TITLES,
        "state_reverse": _TITLES["state"] + _BACKWARDS,
        "gate_input_reverse": _TITLES["gate_input"] + _BACKWARDS,
        "gate_left_reverse": _TITLES["gate_left"] + _BACKWARDS,
        "gate_top_reverse": _TITLES["gate_top"] + _BACKWARDS,
        "gate_diagonal_reverse": _TITLES["gate_diagonal"] + _BACKWARDS,
    }
    training_defaults: ClassVar[dict[str, Any]] = {
        "loss": "hinge",
        "margin": 1.0,
        "negatives": "own",
        "num_negatives": 4,
        "optimizer": "adagrad",
        "learning_rate": 0.05,
        "batch_size": 128,
    }

    def __init__(self, config: MatchSRNNConfig, encoder: Encoder) -> None:
        super().__init__(config, encoder)
        channels = 1
        if config.interaction == "tensor":
            channels = config.channels
            self.tensor = NeuralTensor(encoder.dim, channels, config.tensor_bias, config.tied)
            self.tensor.initialise(config.tensor_init, config.init)
        self.gru = nn.ParameterDict(_initial_weights(config, channels))
        if config.head == "linear":
            self.score = ScoreLayer(len(self.gru["bias"]) * config.units, 1)
            nn.init.uniform_(self.score.weight, -config.output_init, config.output_init)
            nn.init.zeros_(self.score.bias)

    @property
    def weights(self) -> SpatialWeights:
        """The parameters of the spatial GRU."""
        return SpatialWeights(**{"reset": None, "reset_bias": None, **self.gru})

    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        """Compute interactions, run the spatial GRU, score the state of the last cell."""
        inputs = self.interact(query, document)
        lengths = torch.stack([query.mask.sum(1), document.mask.sum(1)], dim=1)
        activation, engine = self.config.activation, self.config.engine
        states = spatial_gru(inputs, lengths, self.weights, activation=activation, engine=engine)
        corners = corner_states(states, lengths)
        scores = self.score(corners) if self.config.head == "linear" else corners
        mask = pair_mask(query, document)
        evidence = LazyMapping(lambda: self._evidence(inputs, lengths, states, mask))
        return MatchOutput(scores.squeeze(-1), evidence)

    def interact(self, query: Encoded, document: Encoded) -> Tensor:
        """Return s_ij, shape (batch, query, document, channels), undefined at padding."""
        if self.config.interaction == "tensor":
            cells: Tensor = self.tensor(query.vectors, document.vectors)
            return cells
        if self.config.interaction == "cosine":
            table = cosine_table(query.vectors, document.vectors)
        elif self.config.interaction == "dot":
            table = query.vectors @ document.vectors.transpose(1, 2)
        else:
            table = same_words(query, document).to(self.gru["input"].dtype)
        return table.unsqueeze(-1)

    @torch.no_grad()
    def _evidence(
        self, inputs: Tensor, lengths: Tensor, states: Tensor, mask: Tensor
    ) -> dict[str, Evidence]:
        """Collect mean interactions and, for each direction, cell scores and mean gates.

        The cell score of the last cell is the score without its bias. Its growth along the last
        row is what each document word adds, along the last column what each query word adds.
        """
        activation = self.config.activation
        gates = spatial_gates(inputs, lengths, self.weights, states, activation=activation)
        mean_gates = gates.z.mean(-1)
        tables = {"interaction": inputs.mean(-1)}
        added: dict[Side, list[Tensor]] = {"query": [], "document": []}
        for scan, suffix in enumerate(("", "_reverse")[: len(states)]):
            cells = torch.stack([self._read_out(states, scan), *mean_gates[:, scan]], -1)
            cells = flip_rectangle(cells, lengths) if suffix else cells
            cells = cells.masked_fill(~mask.unsqueeze(-1), 0.0)
            names = (f"state{suffix}", *(f"gate_{name}{suffix}" for name in GATES))
            tables |= dict(zip(names, cells.unbind(-1), strict=True))
            read = cells[..., 0]
            added["query"].append(_growth(read.mT, lengths[:, 1], backwards=scan == 1))
            added["document"].append(_growth(read, lengths[:, 0], backwards=scan == 1))
        evidence: dict[str, Evidence] = {
            name: Interaction(table.masked_fill(~mask, 0.0), mask) for name, table in tables.items()
        }
        for (side, grown), words in zip(added.items(), (mask.any(2), mask.any(1)), strict=True):
            values = torch.stack(grown).sum(0).masked_fill(~words, 0.0)
            evidence[f"{side}_contribution"] = WordWeights(values, words, side)
        return evidence

    def _read_out(self, states: Tensor, scan: int) -> Tensor:
        """Score every cell of one direction as if it were the last, without the bias."""
        if self.config.head == "state":
            return states[scan, ..., 0]
        weight: Tensor = self.score.weight.view(-1, self.config.units)[scan]
        return states[scan] @ weight


def _growth(table: Tensor, num_rows: Tensor, *, backwards: bool) -> Tensor:
    """Return the growth of the last row from word to word (backwards: of the first row)."""
    if backwards:
        return table[:, 0] - pad(table[:, 0, 1:], (0, 1))
    items = torch.arange(len(table), device=table.device)
    row = table[items, (num_rows - 1).clamp_min(0)]
    return row - pad(row[:, :-1], (1, 0))


def _initial_weights(config: MatchSRNNConfig, channels: int) -> dict[str, Tensor]:
    """Return the fields of `SpatialWeights`: uniform weights, zero biases."""
    scans = 2 if config.direction == "both" else 1
    units, gated = config.units, config.units if config.gates == "full" else 1
    columns = 3 * units + channels

    def uniform(*shape: int) -> Tensor:
        return torch.empty(scans, *shape).uniform_(-config.init, config.init)

    weights = {
        "gate": uniform(4, gated, columns),
        "gate_bias": torch.zeros(scans, 4, gated),
        "input": uniform(units, channels),
        "state": uniform(units, 3 * units),
        "bias": torch.zeros(scans, units),
    }
    if config.reset:
        reset_bias = torch.zeros(scans, 3, gated)
        weights |= {"reset": uniform(3, gated, columns), "reset_bias": reset_bias}
    return weights
