"""The application: scorers behind every protocol, made by a factory."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from matchwork.errors import ConfigError
from matchwork.serve import page
from matchwork.serve.collection import Collection
from matchwork.serve.failures import Failure, Kind
from matchwork.serve.guard import Guard
from matchwork.serve.metrics import Metrics
from matchwork.serve.protocols import cohere, jina, own, search, status, tei
from matchwork.serve.protocols.base import Style, failure_of
from matchwork.serve.served import Served
from matchwork.serve.service import Service
from matchwork.serve.settings import Settings
from matchwork.types import Scorer
from matchwork.version import VERSION

_STYLES = {cohere.PATH: cohere.STYLE, jina.PATH: jina.STYLE, tei.PATH: tei.STYLE}
_JSON = (*_STYLES, own.SCORE, own.EXPLAIN, search.PATH)
_OTHERS = (
    status.MODELS,
    status.METRICS,
    status.HEALTH,
    status.LIVE,
    status.READY,
    "/openapi.json",
    *page.PATHS,
)
PATHS = {**dict.fromkeys(_OTHERS, False), **dict.fromkeys(_JSON, True)}
"""Every path there is, and whether it takes JSON."""
_REFUSED = Failure(Kind.INVALID, "bad request")
_REFUSALS = {
    404: Failure(Kind.NO_PATH, "no such path"),
    405: Failure(Kind.WRONG_METHOD, "method not allowed"),
}


def create_app(
    scorers: Iterable[Scorer | Served],
    settings: Settings | None = None,
    collection: Mapping[str, str] | None = None,
) -> FastAPI:
    """An ASGI application that serves these scorers; the first answers where none is named.

    `collection` are texts by id, in which `/search` and the page find candidates.
    """
    settings = settings or Settings()
    metrics = Metrics()
    texts = collection and Collection(collection, settings.max_chars, settings.max_documents)
    service = Service(_by_name(scorers), settings, metrics, texts or None)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        service.close()

    app = FastAPI(
        title="Matchwork",
        version=VERSION,
        description="Rank, score and explain pairs of texts.",
        docs_url=None,  # which would load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.service = service
    for protocol in (cohere, jina, tei, own, search, status):
        app.include_router(protocol.routes(service))
    app.include_router(page.routes())
    app.add_middleware(Guard, settings=settings, metrics=metrics, style_of=_style_of, paths=PATHS)
    app.add_exception_handler(Failure, _answer)
    app.add_exception_handler(RequestValidationError, _answer)
    app.add_exception_handler(HTTPException, _answer)
    return app


def _by_name(scorers: Iterable[Scorer | Served]) -> dict[str, Served]:
    named: dict[str, Served] = {}
    for each in scorers:
        served = each if isinstance(each, Served) else Served(each.name, each)
        if served.name in named:
            raise ConfigError(f"two models are named {served.name!r}; name one with NAME=FOLDER")
        named[served.name] = served
    if not named:
        raise ConfigError("nothing to serve: give at least one matcher")
    return named


def _style_of(path: str) -> Style:
    return _STYLES.get(path, own.STYLE)


async def _answer(request: Request, error: Exception) -> Response:
    """Errors that routes raise, in the words of their protocol."""
    style = _style_of(request.url.path)
    if isinstance(error, RequestValidationError):
        return style.response(failure_of(error))
    if isinstance(error, HTTPException):
        response = style.response(_REFUSALS.get(error.status_code, _REFUSED))
        response.headers.update(error.headers or {})
        return response
    assert isinstance(error, Failure)
    return style.response(error)
