"""What the protocols have in common: strict requests, and errors in their own shape."""

import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict
from pydantic_core import from_json

from matchwork.serve.failures import Failure, Kind

TRUNCATION_HEADER = "X-Matchwork-Truncated"
_STATUSES = {
    Kind.SYNTAX: 422,
    Kind.INVALID: 422,
    Kind.EMPTY: 422,
    Kind.TOO_MANY: 422,
    Kind.TOO_LONG: 422,
    Kind.TOO_LARGE: 413,
    Kind.NOT_JSON: 415,
    Kind.NO_KEY: 401,
    Kind.NO_MODEL: 404,
    Kind.NO_PATH: 404,
    Kind.WRONG_METHOD: 405,
    Kind.OVERLOADED: 429,
    Kind.LATE: 504,
    Kind.CLOSING: 503,
    Kind.INTERNAL: 500,
}


class Wire(BaseModel):
    """Strict: "5" is no number, 1 is no truth; fields that we do not know are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore")


@dataclass(frozen=True)
class Style:
    """How a protocol says no: the shape of the body, and statuses that differ from the usual."""

    shape: type[BaseModel]
    body: Callable[[Failure], dict[str, Any]]
    statuses: Mapping[Kind, int] = field(default_factory=dict)

    def response(self, failure: Failure) -> JSONResponse:
        """The error as an answer."""
        headers: dict[str, str] = {}
        if failure.retry_after is not None:
            headers["Retry-After"] = str(failure.retry_after)
        if failure.kind is Kind.NO_KEY:
            headers["WWW-Authenticate"] = "Bearer"
        status = self.statuses.get(failure.kind, _STATUSES[failure.kind])
        return JSONResponse(self.body(failure), status, headers)

    @property
    def documented(self) -> dict[int | str, dict[str, Any]]:
        """For the OpenAPI document."""
        return {
            "4XX": {"model": self.shape, "description": "The request is not answered."},
            "5XX": {"model": self.shape, "description": "The service cannot answer."},
        }


class _StrictRequest(Request):
    async def json(self) -> Any:
        """Only what JSON allows: no NaN, no half of a surrogate pair."""
        try:
            return from_json(await self.body(), allow_inf_nan=False)
        except ValueError as error:
            raise json.JSONDecodeError(str(error), "", 0) from None


class StrictRoute(APIRoute):
    """A route that reads its body strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """As FastAPI's, for a stricter request."""
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return strictly


def failure_of(error: RequestValidationError) -> Failure:
    """What is wrong and where; never the value, which may be a long text or a secret."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return Failure(Kind.SYNTAX, f"not valid JSON: {first['ctx']['error']}")
    place = ".".join(str(part) for part in first["loc"][1:]) or "body"
    return Failure(Kind.INVALID, f"{place}: {first['msg']}")
