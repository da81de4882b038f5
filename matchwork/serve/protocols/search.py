"""Our own path into a loaded collection: the candidates for a query."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from matchwork.serve.failures import Failure, Kind
from matchwork.serve.protocols.base import StrictRoute, Wire
from matchwork.serve.protocols.own import STYLE
from matchwork.serve.service import Service

PATH = "/search"


class SearchRequest(Wire):
    """A query and how many documents at most; all that one request may rank unless told."""

    query: str
    top_k: Annotated[int, Field(ge=1)] | None = None


class FoundDocument(BaseModel):
    """A document of the collection; `score` is that of BM25."""

    id: str
    text: str
    score: float


class SearchResponse(BaseModel):
    """Best first; documents that share no word with the query are not among them."""

    documents: list[FoundDocument]


def routes(service: Service) -> APIRouter:
    """The one path, which answers 404 where no collection is loaded."""
    router = APIRouter(route_class=StrictRoute, tags=["Matchwork"])

    @router.post(PATH, responses=STYLE.documented)
    async def search_collection(request: SearchRequest) -> SearchResponse:
        """Find candidates in the loaded collection with BM25."""
        service.check_query(request.query)
        limit = service.settings.max_documents
        if request.top_k is not None and request.top_k > limit:
            raise Failure(Kind.TOO_MANY, f"top_k is {request.top_k}; at most {limit}")
        hits = await service.search(request.query)
        documents = [FoundDocument(**hit._asdict()) for hit in hits[: request.top_k]]
        return SearchResponse(documents=documents)

    return router
