"""What is served, whether it can answer, and how it does."""

from fastapi import APIRouter, Response
from pydantic import BaseModel

from matchwork.serve.failures import Failure, Kind
from matchwork.serve.protocols.own import STYLE
from matchwork.serve.service import Service
from matchwork.version import VERSION

MODELS, METRICS = "/models", "/metrics"
HEALTH, LIVE, READY = "/health", "/health/live", "/health/ready"


class ServedModel(BaseModel):
    """One of the served models and what it can do."""

    name: str
    scorer: str
    calibrated: bool
    explains: bool
    max_query_tokens: int | None
    max_document_tokens: int | None


class Models(BaseModel):
    """What is served; the first one answers requests that name none.

    `collection_size` is the number of documents that `/search` looks in, if there are any.
    """

    matchwork: str = VERSION
    models: list[ServedModel]
    collection_size: int | None


class Health(BaseModel):
    """Whether requests are answered."""

    status: str


def routes(service: Service) -> APIRouter:
    """All of them, for these scorers."""
    router = APIRouter(tags=["Status"])

    @router.get(MODELS, responses=STYLE.documented)
    async def served_models() -> Models:
        """What is served."""
        models = [ServedModel(**served.about()) for served in service.scorers.values()]
        size = None if service.collection is None else len(service.collection)
        return Models(models=models, collection_size=size)

    @router.get(LIVE)
    async def live() -> Health:
        """Whether the process runs."""
        return Health(status="live")

    @router.get(HEALTH, responses=STYLE.documented)
    @router.get(READY, responses=STYLE.documented)
    async def ready() -> Health:
        """Whether requests would be accepted."""
        if not service.is_ready:
            raise Failure(Kind.CLOSING, "the service is starting or shutting down", retry_after=1)
        return Health(status="ready")

    @router.get(METRICS, response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """Numbers for Prometheus."""
        return Response(service.metrics.page(), media_type="text/plain; version=0.0.4")

    return router
