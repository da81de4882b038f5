import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from matchwork.models.match_srnn.matching_path import STEPS, PathCell, matching_path

tables = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
    lambda shape: st.tuples(*[arrays(float, shape, elements=st.floats(0, 1))] * 4)
)


def full(left: float, top: float, diagonal: float, shape: tuple[int, int] = (3, 4)):
    return tuple(np.full(shape, value) for value in (left, top, diagonal))


@given(tables)
def test_every_step_follows_the_largest_gate(gates):
    left, top, diagonal, candidate = gates
    path = matching_path(left, top, diagonal, candidate)
    assert path[0][:2] == (left.shape[0] - 1, left.shape[1] - 1)
    for here, there in zip(path, [*path[1:], None], strict=True):
        up, back = STEPS[here.move]
        row, column = here.row - up, here.column - back
        if there is None:
            assert row < 0 or column < 0  # a border
        else:
            assert (there.row, there.column) == (row, column)
        cell = here[:2]
        strengths = {"left": left[cell], "top": top[cell]}
        strengths["diagonal"] = diagonal[cell] + candidate[cell]
        assert strengths[here.move] == max(strengths.values())


def test_the_candidate_counts_as_diagonal_only_when_it_is_given():
    left, top, diagonal = full(0.4, 0.1, 0.2)
    candidate = np.full((3, 4), 0.3)
    assert [cell.move for cell in matching_path(left, top, diagonal)] == ["left"] * 4
    assert matching_path(left, top, diagonal, candidate) == [
        PathCell(2, 3, "diagonal"),
        PathCell(1, 2, "diagonal"),
        PathCell(0, 1, "diagonal"),
    ]


@pytest.mark.parametrize(
    ("gates", "move"),
    [((0.2, 0.2, 0.2), "diagonal"), ((0.3, 0.3, 0.2), "left"), ((0.1, 0.3, 0.2), "top")],
)
def test_equal_gates_go_diagonally_then_left_then_up(gates, move):
    assert matching_path(*full(*gates))[0].move == move


def test_a_pair_without_words_has_no_path():
    assert matching_path(*full(0.3, 0.3, 0.3, shape=(0, 4))) == []
    assert matching_path(*full(0.3, 0.3, 0.3, shape=(3, 0))) == []


def test_gates_of_different_shapes_are_refused():
    left, top, _ = full(0.3, 0.3, 0.3)
    with pytest.raises(ValueError, match=r"one shape.*\(3, 3\), \(3, 4\)"):
        matching_path(left, top, np.zeros((3, 3)))
