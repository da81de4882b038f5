"""Errors of a request, before a protocol formats them."""

from enum import Enum

from matchwork.errors import MatchworkError


class Kind(Enum):
    """Why a request fails, with the HTTP status unless the protocol has another."""

    SYNTAX = 422, "the body is not JSON"
    INVALID = 422, "a field has the wrong type or value"
    EMPTY = 422, "nothing to rank"
    TOO_MANY = 422, "too many documents or pairs"
    TOO_LONG = 422, "a text is too long"
    TOO_LARGE = 413, "the body is too large"
    NOT_JSON = 415, "the content type is not JSON"
    NO_KEY = 401, "no valid API key"
    NO_MODEL = 404, "no such model"
    NO_PATH = 404, "no such path"
    WRONG_METHOD = 405, "method not allowed"
    OVERLOADED = 429, "the queue is full"
    TIMEOUT = 504, "no answer in time"
    SHUTTING_DOWN = 503, "starting or shutting down"
    INTERNAL = 500, "internal error"


class Failure(MatchworkError):
    """A request that gets an error response; a retry may succeed after `retry_after` seconds."""

    def __init__(self, kind: Kind, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after
