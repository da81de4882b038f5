"""Jina's `POST /v1/rerank`, https://api.jina.ai/redoc."""

from typing import Annotated, Literal, TypeAlias

from fastapi import APIRouter, Response
from pydantic import BaseModel, Discriminator, Field, Tag

from matchwork.serve.protocols.base import DETAIL, PROTOCOLS, Protocol, StrictModel, StrictRoute
from matchwork.serve.service import Service


class TextDocument(StrictModel):
    """A document given as an object."""

    text: str


def _kind(document: object) -> str:
    return "object" if isinstance(document, dict) else "text"


# A tagged union: an error names the variant that the client sent, not both.
AnyDocument: TypeAlias = Annotated[
    Annotated[str, Tag("text")] | Annotated[TextDocument, Tag("object")], Discriminator(_kind)
]


class JinaRequest(StrictModel):
    """A rerank request of Jina's clients."""

    model: str
    query: str
    documents: list[AnyDocument]
    top_n: Annotated[int, Field(ge=1)] | None = None
    return_documents: bool = True


class JinaResult(BaseModel):
    """A ranked document; `index` is its position in the request."""

    index: int
    relevance_score: float
    document: TextDocument | None = None


class Usage(BaseModel):
    """Tokens of the query and of all documents."""

    total_tokens: int
    prompt_tokens: int


class JinaResponse(BaseModel):
    """Ranked documents, best first."""

    model: str
    object: Literal["list"] = "list"
    usage: Usage
    results: list[JinaResult]


def _routes(service: Service) -> APIRouter:
    router = APIRouter(route_class=StrictRoute, tags=["Jina"])

    @router.post("/v1/rerank", responses=DETAIL.documented, response_model_exclude_none=True)
    async def jina_rerank(request: JinaRequest, response: Response) -> JinaResponse:
        """Rank documents as Jina's API does."""
        served = service.find(request.model)
        documents = [each if isinstance(each, str) else each.text for each in request.documents]
        service.check(request.query, documents)
        hits, answer = await service.rerank(served, request.query, documents, top_k=request.top_n)
        response.headers.update(answer.headers)
        return JinaResponse(
            model=served.name,
            usage=Usage(total_tokens=answer.num_tokens, prompt_tokens=answer.num_tokens),
            results=[
                JinaResult(
                    index=hit.index,
                    relevance_score=answer.relevance[hit.index],
                    document=TextDocument(text=documents[hit.index])
                    if request.return_documents
                    else None,
                )
                for hit in hits
            ],
        )

    return router


PROTOCOLS.add("jina", Protocol(_routes))
