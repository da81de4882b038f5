"""API keys: read from a file, compared in constant time."""

from collections.abc import Iterable
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from matchwork.errors import ConfigError, DataError

_OPEN = ("/", "/openapi.json")
_OPEN_FOLDERS = ("/health", "/static/")


def read_keys(path: str | Path) -> tuple[str, ...]:
    """Read one key per line; empty lines and lines that start with # are skipped."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read the API keys: {error}", path=path) from error
    keys = tuple(line.strip() for line in lines if line.strip() and line.strip()[0] != "#")
    if not keys:
        raise ConfigError(
            f"{path} holds no API key; write one per line, or leave --api-key-file out"
        )
    return keys


def needs_key(path: str) -> bool:
    """Return whether a path is protected: all but health, the page and the API description."""
    return path not in _OPEN and not path.startswith(_OPEN_FOLDERS)


class KeyRing:
    """Accepted keys as digests; comparing all of them takes a time that reveals none."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._digests = [sha256(key.encode()).digest() for key in keys]

    def admits(self, authorization: bytes) -> bool:
        """Return whether an Authorization header is `Bearer KEY` with an accepted key."""
        scheme, _, key = authorization.partition(b" ")
        digest = sha256(key.strip()).digest()
        matches = sum([compare_digest(digest, each) for each in self._digests])
        return bool(matches) and scheme.lower() == b"bearer"
