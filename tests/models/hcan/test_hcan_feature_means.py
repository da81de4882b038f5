"""Means of features: exact over batches of any size, zero and silent before."""

import torch

from matchwork.models.hcan.feature_means import FeatureMeans


def test_means_are_over_rows_not_batches() -> None:
    torch.manual_seed(0)
    rows = {"left": torch.randn(5, 2, 3), "right": torch.randn(5, 1, 4)}
    means = FeatureMeans({"left": (2, 3), "right": (1, 4)})
    assert means.hold(rows) == {}
    means.fit({part: value[a:b] for part, value in rows.items()} for a, b in ((0, 4), (4, 5)))
    for part, value in rows.items():
        torch.testing.assert_close(means.get_buffer(part), value.mean(dim=0))
    held = means.hold(rows)
    assert list(held) == ["left", "right", "neither"]
    assert torch.equal(held["left"]["left"], rows["left"])
    assert torch.equal(held["left"]["right"], held["neither"]["right"])
    torch.testing.assert_close(held["right"]["left"][3], rows["left"].mean(dim=0))
    assert torch.equal(held["right"]["right"], rows["right"])


def test_learning_again_forgets_and_precision_stays() -> None:
    means = FeatureMeans({"only": (2,)}).double()
    means.fit([{"only": torch.ones(3, 2).double()}])
    means.fit([{"only": torch.full((1, 2), 4.0).double()}])
    assert means.get_buffer("only").tolist() == [4.0, 4.0]
    assert means.get_buffer("only").dtype == torch.float64
    means.fit([])
    assert means.hold({"only": torch.ones(1, 2)}) == {}
