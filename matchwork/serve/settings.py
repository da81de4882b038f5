"""What an operator can decide about the service."""

from dataclasses import dataclass, field, fields

from matchwork.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Limits of one request, of the queue and of a batch; `api_keys` empty: open to everyone.

    `max_queue` counts pairs that wait for each matcher, `max_chars` code points of one text.
    Documents less probable than `threshold` are left out of rankings.
    """

    max_batch: int = 256
    max_wait_ms: float = 2.0
    max_queue: int = 4096
    max_documents: int = 1000
    max_chars: int = 20_000
    max_body_bytes: int = 16 << 20
    deadline_ms: int = 30_000
    threshold: float = 0.0
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    log_text: bool = False

    def __post_init__(self) -> None:
        for name in (each.name for each in fields(self) if each.type is int):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 <= self.max_wait_ms <= self.deadline_ms:
            raise ConfigError(
                f"max_wait_ms must lie between 0 and deadline_ms ({self.deadline_ms}), "
                f"got {self.max_wait_ms}"
            )
        if not 0 <= self.threshold <= 1:
            raise ConfigError(f"threshold must lie between 0 and 1, got {self.threshold}")
