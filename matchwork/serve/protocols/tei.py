"""`POST /rerank` of Hugging Face's text-embeddings-inference.

It names no model: the first one served answers, unless `model`, which is ours, names another.
Its clients count on every text in the answer, so that the service's threshold is not theirs.
"""

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel

from matchwork.serve.failures import Failure, Kind
from matchwork.serve.protocols.base import TRUNCATION_HEADER, StrictRoute, Style, Wire
from matchwork.serve.service import Service

PATH = "/rerank"


class TEIRequest(Wire):
    """What clients of text-embeddings-inference send; scores are probabilities unless raw.

    Where `truncate` is left open, as clients mostly do, long texts are cut.
    """

    query: str
    texts: list[str]
    truncate: bool | None = None
    truncation_direction: Literal["Left", "Right", "left", "right"] = "Right"
    raw_scores: bool = False
    return_text: bool = False
    model: str | None = None


class TEIResult(BaseModel):
    """One text; `index` is its place in the request."""

    index: int
    score: float
    text: str | None = None


class TEIError(BaseModel):
    """What went wrong, and its class."""

    error: str
    error_type: Literal["Unhealthy", "Backend", "Overloaded", "Validation", "Tokenizer", "Empty"]


_TYPES = {
    Kind.EMPTY: "Empty",
    Kind.OVERLOADED: "Overloaded",
    Kind.LATE: "Overloaded",
    Kind.CLOSING: "Unhealthy",
    Kind.INTERNAL: "Backend",
}
STYLE = Style(
    TEIError,
    lambda failure: {
        "error": failure.message,
        "error_type": _TYPES.get(failure.kind, "Validation"),
    },
    {
        Kind.SYNTAX: 400,
        Kind.EMPTY: 400,
        Kind.TOO_MANY: 413,
        Kind.TOO_LONG: 413,
        Kind.INTERNAL: 424,
    },
)


def routes(service: Service) -> APIRouter:
    """The protocol for these scorers."""
    router = APIRouter(route_class=StrictRoute, tags=["text-embeddings-inference"])

    @router.post(PATH, responses=STYLE.documented, response_model_exclude_none=True)
    async def tei_rerank(request: TEIRequest, response: Response) -> list[TEIResult]:
        """Rank texts as text-embeddings-inference does."""
        served = service.find(request.model)
        if request.truncation_direction.lower() == "left":
            raise Failure(Kind.INVALID, "truncation_direction: texts are only cut on the right")
        service.check(request.query, request.texts, "text")
        lines, answer = await service.rank(served, request.query, request.texts)
        cut = answer.cut
        if cut.texts and request.truncate is False:  # known now: to look first is to read twice
            raise Failure(
                Kind.TOO_LONG,
                f"{cut.texts} texts have {cut.tokens} tokens more than the model reads; "
                "leave truncate: false out to cut them",
            )
        response.headers[TRUNCATION_HEADER] = f"texts={cut.texts}, tokens={cut.tokens}"
        return [
            TEIResult(
                index=line.place,
                score=line.score if request.raw_scores else line.probability,
                text=request.texts[line.place] if request.return_text else None,
            )
            for line in lines
        ]

    return router
