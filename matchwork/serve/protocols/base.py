"""Parts of every protocol: routes, strict requests and an error format."""

import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict
from pydantic_core import from_json

from matchwork.registry import Registry
from matchwork.serve.failures import Failure, Kind
from matchwork.serve.service import Service


class StrictModel(BaseModel):
    """A request body: "5" is not a number, 1 is not a boolean; unknown fields are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore")


@dataclass(frozen=True)
class ErrorFormat:
    """Error responses of a protocol.

    Args:
        schema: The response body, for the OpenAPI document.
        body: Makes the response body of a failure.
        statuses: HTTP statuses that differ from the defaults.
    """

    schema: type[BaseModel]
    body: Callable[[Failure], dict[str, Any]]
    statuses: Mapping[Kind, int] = field(default_factory=dict)

    def response(self, failure: Failure) -> JSONResponse:
        """Return the HTTP response for a failure."""
        headers: dict[str, str] = {}
        if failure.retry_after is not None:
            headers["Retry-After"] = str(failure.retry_after)
        if failure.kind is Kind.NO_KEY:
            headers["WWW-Authenticate"] = "Bearer"
        status = self.statuses.get(failure.kind, failure.kind.value[0])
        return JSONResponse(self.body(failure), status, headers)

    @property
    def documented(self) -> dict[int | str, dict[str, Any]]:
        """The `responses` of a route, for the OpenAPI document."""
        return {
            "4XX": {"model": self.schema, "description": "The request was refused."},
            "5XX": {"model": self.schema, "description": "The service failed."},
        }


class DetailError(BaseModel):
    """Body of an error response."""

    detail: str


DETAIL = ErrorFormat(DetailError, lambda failure: {"detail": failure.message})
"""`{"detail": …}`: the error format of FastAPI, Jina and our own paths."""


@dataclass(frozen=True)
class Protocol:
    """A set of paths that speak the same language; every POST route takes a JSON body.

    Args:
        routes: Makes the routes for a service.
        errors: Formats the errors of these routes.
    """

    routes: Callable[[Service], APIRouter]
    errors: ErrorFormat = DETAIL


PROTOCOLS: Registry[Protocol] = Registry("protocol")
"""The protocols that every service speaks."""


class _StrictRequest(Request):
    async def json(self) -> Any:
        """Parse the body as JSON proper: no NaN, no lone surrogates."""
        try:
            return from_json(await self.body(), allow_inf_nan=False)
        except ValueError as error:
            raise json.JSONDecodeError(str(error), "", 0) from None


class StrictRoute(APIRoute):
    """A FastAPI route that accepts only valid JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return FastAPI's handler, with the body parsed strictly."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return handle_strictly


def validation_failure(error: RequestValidationError) -> Failure:
    """Describe the first invalid field.

    The message never quotes the value, which may be a long text or a secret.
    """
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return Failure(Kind.SYNTAX, f"not valid JSON: {first['ctx']['error']}")
    name = ".".join(str(part) for part in first["loc"][1:]) or "body"
    return Failure(Kind.INVALID, f"{name}: {first['msg']}")
