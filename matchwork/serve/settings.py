"""Settings of the service."""

from dataclasses import dataclass, field, fields

from matchwork.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Limits of requests, queues and batches.

    Args:
        max_batch: Pairs scored together.
        max_wait_ms: Longest wait for more requests before a batch runs.
        max_queue: Pairs waiting for one model.
        max_documents: Documents or pairs of one request.
        max_chars: Code points of one text.
        max_body_bytes: Size of a request body.
        deadline_ms: Longest time to answer a request.
        threshold: Lowest probability of a document in a ranking.
        api_keys: Accepted keys; empty: no key is needed.
        log_text: Whether to log request bodies.
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
