"""Why a request is not answered, before any protocol has put it into its own words."""

from enum import Enum, auto

from matchwork.errors import MatchworkError


class Kind(Enum):
    """What went wrong; every protocol has a status for each."""

    SYNTAX = auto()  # the body is not JSON
    INVALID = auto()  # it is, but not what it should be
    EMPTY = auto()
    TOO_MANY = auto()  # documents
    TOO_LONG = auto()  # a text
    TOO_LARGE = auto()  # the body
    NOT_JSON = auto()  # by its content type
    NO_KEY = auto()
    NO_MODEL = auto()
    NO_PATH = auto()
    WRONG_METHOD = auto()
    OVERLOADED = auto()
    LATE = auto()
    CLOSING = auto()
    INTERNAL = auto()


class Failure(MatchworkError):
    """An answer that is an error; `retry_after` in seconds where trying again may help."""

    def __init__(self, kind: Kind, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after
