"""What a benchmark gives back: numbers that carry their peer and their target."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True)
class Target:
    """What the project promises of a figure's value or of its ratio."""

    of: Literal["value", "ratio"]
    at: Literal["least", "most"]
    bound: float

    def met(self, number: float) -> bool:
        """Whether the number keeps the promise."""
        return number >= self.bound if self.at == "least" else number <= self.bound

    def __str__(self) -> str:
        return f"{self.of} {'≥' if self.at == 'least' else '≤'} {self.bound:g}"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A number and, in the same unit and from the same run, what it is held against."""

    value: float
    unit: str
    peer: float
    peer_name: str
    target: Target | None = None

    @property
    def ratio(self) -> float:
        """Value by peer."""
        return self.value / self.peer

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where nothing was promised."""
        if self.target is None:
            return None
        return self.target.met(self.value if self.target.of == "value" else self.ratio)

    def to_json(self) -> dict[str, Any]:
        """All fields, with what follows from them."""
        target = None if self.target is None else str(self.target)
        return {**asdict(self), "target": target, "ratio": self.ratio, "met": self.met}


Figures: TypeAlias = dict[str, Figure]
"""What was measured -> the number."""
