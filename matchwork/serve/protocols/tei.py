"""`POST /rerank` of Hugging Face's text-embeddings-inference.

TEI requests name no model: the first model answers, unless our optional `model` field names
another. TEI's clients expect every text in the answer, so the service's threshold is ignored.
"""

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel

from matchwork.serve.failures import Failure, Kind
from matchwork.serve.protocols.base import (
    PROTOCOLS,
    ErrorFormat,
    Protocol,
    StrictModel,
    StrictRoute,
)
from matchwork.serve.service import Service


class TEIRequest(StrictModel):
    """A rerank request of TEI's clients; scores are probabilities unless `raw_scores`.

    Long texts are truncated unless `truncate` is false; most clients leave it out.
    """

    query: str
    texts: list[str]
    truncate: bool | None = None
    truncation_direction: Literal["Left", "Right", "left", "right"] = "Right"
    raw_scores: bool = False
    return_text: bool = False
    model: str | None = None


class TEIResult(BaseModel):
    """A ranked text; `index` is its position in the request."""

    index: int
    score: float
    text: str | None = None


class TEIError(BaseModel):
    """Error message and its class."""

    error: str
    error_type: Literal["Unhealthy", "Backend", "Overloaded", "Validation", "Tokenizer", "Empty"]


_ERROR_TYPES = {
    Kind.EMPTY: "Empty",
    Kind.OVERLOADED: "Overloaded",
    Kind.TIMEOUT: "Overloaded",
    Kind.SHUTTING_DOWN: "Unhealthy",
    Kind.INTERNAL: "Backend",
}
_ERRORS = ErrorFormat(
    TEIError,
    lambda failure: {
        "error": failure.message,
        "error_type": _ERROR_TYPES.get(failure.kind, "Validation"),
    },
    dict.fromkeys((Kind.SYNTAX, Kind.EMPTY), 400)
    | dict.fromkeys((Kind.TOO_MANY, Kind.TOO_LONG), 413)
    | {Kind.INTERNAL: 424},
)


def _routes(service: Service) -> APIRouter:
    router = APIRouter(route_class=StrictRoute, tags=["text-embeddings-inference"])

    @router.post("/rerank", responses=_ERRORS.documented, response_model_exclude_none=True)
    async def tei_rerank(request: TEIRequest, response: Response) -> list[TEIResult]:
        """Rank texts as text-embeddings-inference does."""
        served = service.find(request.model)
        if request.truncation_direction.lower() == "left":
            raise Failure(Kind.INVALID, "truncation_direction: texts are only cut on the right")
        service.check(request.query, request.texts, "text")
        hits, answer = await service.rerank(served, request.query, request.texts, threshold=0)
        cut = answer.truncation
        if cut.texts and request.truncate is False:  # checked now, to tokenise only once
            raise Failure(
                Kind.TOO_LONG,
                f"{cut.texts} texts have {cut.tokens} tokens more than the model reads; "
                "leave truncate: false out to cut them",
            )
        response.headers.update(answer.headers)
        return [
            TEIResult(
                index=hit.index,
                score=hit.score if request.raw_scores else answer.relevance[hit.index],
                text=request.texts[hit.index] if request.return_text else None,
            )
            for hit in hits
        ]

    return router


PROTOCOLS.add("tei", Protocol(_routes, _ERRORS))
