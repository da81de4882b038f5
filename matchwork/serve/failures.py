"""Errors of a request, before a protocol formats them."""

from enum import Enum, auto

from matchwork.errors import MatchworkError


class Kind(Enum):
    """Why a request fails; every protocol maps each kind to an HTTP status."""

    SYNTAX = auto()  # the body is not JSON
    INVALID = auto()  # a field has the wrong type or value
    EMPTY = auto()  # nothing to rank
    TOO_MANY = auto()  # documents or pairs
    TOO_LONG = auto()  # a text
    TOO_LARGE = auto()  # the body
    NOT_JSON = auto()  # the content type
    NO_KEY = auto()
    NO_MODEL = auto()
    NO_PATH = auto()
    WRONG_METHOD = auto()
    OVERLOADED = auto()
    TIMEOUT = auto()
    SHUTTING_DOWN = auto()
    INTERNAL = auto()


class Failure(MatchworkError):
    """A request that gets an error response.

    Args:
        kind: Decides the HTTP status.
        message: Text for the client.
        retry_after: Seconds after which a retry may succeed.
    """

    def __init__(self, kind: Kind, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after
