"""Jina's `POST /v1/rerank`, https://api.jina.ai/redoc."""

from typing import Annotated, Literal, TypeAlias

from fastapi import APIRouter, Response
from pydantic import BaseModel, Discriminator, Field, Tag

from matchwork.serve.protocols.base import TRUNCATION_HEADER, StrictRoute, Style, Wire
from matchwork.serve.service import Service

PATH = "/v1/rerank"


class TextDocument(Wire):
    """A document that is an object."""

    text: str


def _kind(document: object) -> str:
    return "object" if isinstance(document, dict) else "text"


# By kind, so that an error is about what was meant and not about the other.
AnyDocument: TypeAlias = Annotated[
    Annotated[str, Tag("text")] | Annotated[TextDocument, Tag("object")], Discriminator(_kind)
]


class JinaRequest(Wire):
    """What Jina's clients send."""

    model: str
    query: str
    documents: list[AnyDocument]
    top_n: Annotated[int, Field(ge=1)] | None = None
    return_documents: bool = True


class JinaResult(BaseModel):
    """One document; `index` is its place in the request."""

    index: int
    relevance_score: float
    document: TextDocument | None = None


class Usage(BaseModel):
    """Tokens of the query and of all documents."""

    total_tokens: int
    prompt_tokens: int


class JinaResponse(BaseModel):
    """What Jina's clients read."""

    model: str
    object: Literal["list"] = "list"
    usage: Usage
    results: list[JinaResult]


class JinaError(BaseModel):
    """What went wrong."""

    detail: str


STYLE = Style(JinaError, lambda failure: {"detail": failure.message})


def routes(service: Service) -> APIRouter:
    """The protocol for these scorers."""
    router = APIRouter(route_class=StrictRoute, tags=["Jina"])

    @router.post(PATH, responses=STYLE.documented, response_model_exclude_none=True)
    async def jina_rerank(request: JinaRequest, response: Response) -> JinaResponse:
        """Rank documents as Jina's API does."""
        served = service.find(request.model)
        documents = [each if isinstance(each, str) else each.text for each in request.documents]
        service.check(request.query, documents)
        ranking, answer = await service.rank(served, request.query, documents)
        lines = service.keep(ranking, request.top_n)
        num_tokens, cut = answer.num_tokens, answer.cut
        response.headers[TRUNCATION_HEADER] = f"texts={cut.texts}, tokens={cut.tokens}"
        return JinaResponse(
            model=served.name,
            usage=Usage(total_tokens=num_tokens, prompt_tokens=num_tokens),
            results=[
                JinaResult(
                    index=line.place,
                    relevance_score=line.probability,
                    document=TextDocument(text=documents[line.place])
                    if request.return_documents
                    else None,
                )
                for line in lines
            ],
        )

    return router
