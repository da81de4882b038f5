"""API keys: read from a file, compared in constant time."""

from collections.abc import Iterable
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from matchwork.errors import ConfigError, DataError

_OPEN = ("/", "/openapi.json")
_OPEN_FOLDERS = ("/health", "/static/")


def read_keys(path: str | Path) -> tuple[str, ...]:
    """One key a line; empty lines and those that begin with # are skipped."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read the API keys: {error}", path=path) from error
    keys = tuple(line.strip() for line in lines if line.strip() and line.strip()[0] != "#")
    if not keys:
        raise ConfigError(f"{path} holds no API key; write one a line, or leave --api-key-file out")
    return keys


def needs_key(path: str) -> bool:
    """Everything but health, the page that asks for a key, and the description of the API."""
    return path not in _OPEN and not path.startswith(_OPEN_FOLDERS)


class KeyRing:
    """Knows digests only; every one is compared, so that time tells nothing about any key."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._digests = [sha256(key.encode()).digest() for key in keys]

    def admits(self, authorization: bytes) -> bool:
        """Whether the header is `Bearer KEY` with a known key; anything is where there is none."""
        if not self._digests:
            return True
        scheme, _, key = authorization.partition(b" ")
        digest = sha256(key.strip()).digest()
        known = sum([compare_digest(digest, each) for each in self._digests])
        return bool(known) and scheme.lower() == b"bearer"
