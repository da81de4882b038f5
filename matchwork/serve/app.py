"""The ASGI application: models behind every protocol."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from matchwork.errors import ConfigError
from matchwork.serve import page
from matchwork.serve.failures import Failure, Kind
from matchwork.serve.guard import UNKNOWN, Endpoint, Guard
from matchwork.serve.metrics import Metrics
from matchwork.serve.protocols import PROTOCOLS
from matchwork.serve.protocols.base import Protocol, validation_failure
from matchwork.serve.served import Served
from matchwork.serve.service import Collection, Service
from matchwork.serve.settings import Settings
from matchwork.types import Scorer
from matchwork.version import VERSION

_BAD_REQUEST = Failure(Kind.INVALID, "bad request")
_HTTP_FAILURES = {
    404: Failure(Kind.NO_PATH, "no such path"),
    405: Failure(Kind.WRONG_METHOD, "method not allowed"),
}


def create_app(
    scorers: Iterable[Scorer | Served],
    settings: Settings | None = None,
    collection: Mapping[str, str] | None = None,
) -> FastAPI:
    """Return an ASGI application that serves scorers over every protocol in `PROTOCOLS`.

    Args:
        scorers: The models; the first one answers requests that name none.
        settings: Limits, threshold and API keys.
        collection: Texts by id, in which `/search` and the page find candidates.

    Raises:
        ConfigError: There is no scorer, two share a name, or a text is too long.
    """
    settings = settings or Settings()
    metrics = Metrics()
    texts = Collection(collection, settings) if collection else None
    service = Service(_by_name(scorers), settings, metrics, texts)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        service.close()

    app = FastAPI(
        title="Matchwork",
        version=VERSION,
        description="Rank, score and explain pairs of texts.",
        docs_url=None,  # its page would load scripts from other sites
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.service = service
    endpoints = {"/openapi.json": UNKNOWN}
    for protocol in (*(PROTOCOLS[name] for name in PROTOCOLS), Protocol(page.routes)):
        router = protocol.routes(service)
        for route in router.routes:
            assert isinstance(route, APIRoute)
            if route.path in endpoints:
                raise ConfigError(f"two protocols have the path {route.path!r}; rename one")
            endpoints[route.path] = Endpoint("POST" in (route.methods or ()), protocol.errors)
        app.include_router(router)
    app.add_middleware(Guard, settings=settings, metrics=metrics, endpoints=endpoints)

    async def on_error(request: Request, error: Exception) -> Response:
        """Format an exception that a route raised."""
        errors = endpoints.get(request.url.path, UNKNOWN).errors
        if isinstance(error, RequestValidationError):
            return errors.response(validation_failure(error))
        if isinstance(error, HTTPException):
            response = errors.response(_HTTP_FAILURES.get(error.status_code, _BAD_REQUEST))
            response.headers.update(error.headers or {})
            return response
        assert isinstance(error, Failure)
        return errors.response(error)

    for kind in (Failure, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, on_error)
    return app


def _by_name(scorers: Iterable[Scorer | Served]) -> dict[str, Served]:
    named: dict[str, Served] = {}
    for scorer in scorers:
        served = scorer if isinstance(scorer, Served) else Served(scorer.name, scorer)
        if served.name in named:
            raise ConfigError(f"two models are named {served.name!r}; name one with NAME=FOLDER")
        named[served.name] = served
    if not named:
        raise ConfigError("nothing to serve: give at least one matcher")
    return named
