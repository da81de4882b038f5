"""Our own `POST /search`: find candidates in the service's collection."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from matchwork.serve.failures import Failure, Kind
from matchwork.serve.protocols.base import DETAIL, PROTOCOLS, Protocol, StrictModel, StrictRoute
from matchwork.serve.service import Hit, Service


class SearchRequest(StrictModel):
    """A query and the number of documents to return, by default as many as one request may rank."""

    query: str
    top_k: Annotated[int, Field(ge=1)] | None = None


class SearchResponse(BaseModel):
    """Documents that share a word with the query, best first."""

    documents: list[Hit]


def _routes(service: Service) -> APIRouter:
    router = APIRouter(route_class=StrictRoute, tags=["Matchwork"])

    @router.post("/search", responses=DETAIL.documented)
    async def search_collection(request: SearchRequest) -> SearchResponse:
        """Find candidates in the collection with BM25; 404 without a collection."""
        service.check_query(request.query)
        limit = service.settings.max_documents
        if request.top_k is not None and request.top_k > limit:
            raise Failure(Kind.TOO_MANY, f"top_k is {request.top_k}; at most {limit}")
        hits = await service.search(request.query)
        return SearchResponse(documents=hits[: request.top_k])

    return router


PROTOCOLS.add("search", Protocol(_routes))
