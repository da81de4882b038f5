"""The engines against the equations in scalar loops, both directions."""

from typing import Any

import numpy as np
import pytest
import torch
from spatial_gru_numpy import Array, Weights, spatial_gru

from matchwork.kernels import spatial_gru as ours

SIZES = [(3, 4), (1, 5), (4, 1), (1, 1)]


def weights(rng: np.random.Generator, u: int, c: int, shared: bool, resets: bool) -> Weights:
    g = 1 if shared else u
    return Weights(
        Wr=rng.normal(size=(3, g, 3 * u + c)) if resets else None,
        br=rng.normal(size=(3, g)) if resets else None,
        Wz=rng.normal(size=(4, g, 3 * u + c)),
        bz=rng.normal(size=(4, g)),
        W=rng.normal(size=(u, c)),
        U=rng.normal(size=(u, 3 * u)),
        b=rng.normal(size=u),
    )


def tensors(directions: list[Weights]) -> ours.SpatialWeights:
    def stacked(name: str) -> Any:
        parts = [getattr(part, name) for part in directions]
        return None if parts[0] is None else torch.from_numpy(np.stack(parts))

    return ours.SpatialWeights(*map(stacked, ("Wr", "br", "Wz", "bz", "W", "U", "b")))


def expected(grid: Array, directions: list[Weights], tanh: bool) -> list[Array]:
    scans = [grid, grid[::-1, ::-1]]
    return [
        spatial_gru(scan, part, tanh)
        for scan, part in zip(scans[: len(directions)], directions, strict=True)
    ]


@pytest.mark.parametrize("engine", ["reference", "diagonal", "auto"])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("resets", [False, True])
@pytest.mark.parametrize("activation", ["tanh", "identity"])
@pytest.mark.parametrize("num_directions", [1, 2])
def test_states_of_a_ragged_batch(
    engine: str, shared: bool, resets: bool, activation: Any, num_directions: int
) -> None:
    rng = np.random.default_rng(0)
    directions = [weights(rng, 3, 2, shared, resets) for _ in range(num_directions)]
    inputs = rng.normal(size=(len(SIZES), 4, 5, 2))
    found = ours.spatial_gru(
        torch.from_numpy(inputs),
        torch.tensor(SIZES),
        tensors(directions),
        activation=activation,
        engine=engine,
    ).numpy()
    for item, (m, n) in enumerate(SIZES):
        for direction, states in enumerate(
            expected(inputs[item, :m, :n], directions, activation == "tanh")
        ):
            np.testing.assert_allclose(found[direction, item, :m, :n], states, atol=1e-12)


def test_the_hand_example() -> None:
    """Section 8, 10: zero gates share alike, so that each state is a fourth of a sum."""
    parts = Weights(
        Wr=None,
        br=None,
        Wz=np.zeros((4, 1, 4)),
        bz=np.zeros((4, 1)),
        W=np.ones((1, 1)),
        U=np.zeros((1, 3)),
        b=np.zeros(1),
    )
    states = spatial_gru(np.ones((2, 2, 1)), parts)[..., 0]
    np.testing.assert_allclose(states, [[0.1903985, 0.2379982], [0.2379982, 0.3569973]], atol=1e-7)
