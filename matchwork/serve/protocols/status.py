"""Models, health and metrics of the service."""

from fastapi import APIRouter, Response
from pydantic import BaseModel

from matchwork.serve.failures import Failure, Kind
from matchwork.serve.protocols.base import DETAIL, PROTOCOLS, Protocol
from matchwork.serve.service import Service
from matchwork.version import VERSION


class ServedModel(BaseModel):
    """A model and its capabilities."""

    name: str
    scorer: str
    calibrated: bool
    explains: bool
    max_query_tokens: int | None
    max_document_tokens: int | None


class Models(BaseModel):
    """The models; the first one answers requests that name none.

    `collection_size` is the number of documents that `/search` looks in, if there is a collection.
    """

    matchwork: str = VERSION
    models: list[ServedModel]
    collection_size: int | None


class Health(BaseModel):
    """State of the service."""

    status: str


def _routes(service: Service) -> APIRouter:
    router = APIRouter(tags=["Status"])

    @router.get("/models", responses=DETAIL.documented)
    async def list_models() -> Models:
        """List the models."""
        models = [ServedModel(**served.describe()) for served in service.models.values()]
        size = None if service.collection is None else len(service.collection)
        return Models(models=models, collection_size=size)

    @router.get("/health/live")
    async def live() -> Health:
        """Answer while the process runs."""
        return Health(status="live")

    @router.get("/health", responses=DETAIL.documented)
    @router.get("/health/ready", responses=DETAIL.documented)
    async def ready() -> Health:
        """Answer 200 while requests are accepted."""
        if not service.is_ready:
            raise Failure(
                Kind.SHUTTING_DOWN, "the service is starting or shutting down", retry_after=1
            )
        return Health(status="ready")

    @router.get(
        "/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}}
    )
    async def metrics() -> Response:
        """Return metrics in Prometheus's text format."""
        return Response(service.metrics.page(), media_type="text/plain; version=0.0.4")

    return router


PROTOCOLS.add("status", Protocol(_routes))
