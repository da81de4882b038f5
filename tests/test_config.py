import json
from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.config import build, to_table
from matchwork.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Settings:
    name: str
    depth: int = 3
    rate: float = 0.1
    mode: Literal["fast", "slow"] = "fast"
    sizes: tuple[int, ...] = (1, 2)
    limit: int | None = None
    bits: Literal["32", "16-mixed"] = "32"

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise ConfigError(f"depth must be at least 1, got {self.depth}")


@given(
    st.builds(
        Settings,
        name=st.text(max_size=5),
        depth=st.integers(1, 9),
        rate=st.floats(allow_nan=False, allow_infinity=False),
        mode=st.sampled_from(["fast", "slow"]),
        sizes=st.lists(st.integers(), max_size=3).map(tuple),
        limit=st.none() | st.integers(),
        bits=st.sampled_from(["32", "16-mixed"]),
    )
)
def test_settings_survive_json(settings: Settings) -> None:
    assert build(Settings, json.loads(json.dumps(to_table(settings))), "test") == settings


def test_defaults_come_from_the_dataclass() -> None:
    assert build(Settings, {"name": "x"}, "test") == Settings(name="x")


def test_a_number_may_stand_for_its_digits() -> None:
    assert build(Settings, {"name": "x", "bits": 32}, "test").bits == "32"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"name": "x", "dept": 3}, r"recipe \[a\]: unknown key 'dept'; did you mean 'depth'\?"),
        ({"name": "x", "zzz": 3}, r"unknown key 'zzz'; known: bits, depth, limit"),
        ({}, r"recipe \[a\]: key 'name' is missing"),
        ({"name": "x", "depth": "deep"}, r"recipe \[a\]: depth = 'deep': .*integer"),
        ({"name": "x", "depth": 2.5}, r"depth = 2\.5: .*integer"),
        ({"name": "x", "rate": float("nan")}, r"\[a\]: rate = nan: must be a finite number"),
        ({"name": "x", "rate": float("-inf")}, r"rate = -inf: must be a finite number"),
        ({"name": "x", "mode": "medium"}, r"mode = 'medium': .*'fast' or 'slow'"),
        ({"name": "x", "bits": 16}, r"bits = 16: .*'32' or '16-mixed'"),
        ({"name": "x", "sizes": [1, "b"]}, r"sizes\.1 = 'b'"),
        ({"name": "x", "depth": 0}, r"depth must be at least 1, got 0"),
    ],
)
def test_what_is_wrong_is_said(table: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build(Settings, table, "recipe [a]")


@dataclass(frozen=True)
class Plain:
    depth: int = 3
    wide: bool = False
    names: tuple[str, ...] = ("a",)
    rate: float | None = None


@given(
    st.integers(),
    st.booleans(),
    st.lists(st.sampled_from("ab"), max_size=2).map(tuple),
    st.none() | st.floats(0, 1),
)
def test_to_a_table_and_back(
    depth: int, wide: bool, names: tuple[str, ...], rate: float | None
) -> None:
    made = Plain(depth, wide, names, rate)
    expected = {"depth": depth, "wide": wide, "names": list(names), "rate": rate}
    assert to_table(made) == expected
    assert build(Plain, to_table(made), "test") == made
