"""Our own paths for pairs: scores and reasons."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from matchwork.explain import view_tables
from matchwork.serve.protocols.base import StrictRoute, Style, Wire
from matchwork.serve.service import Service

SCORE, EXPLAIN = "/score", "/explain"


class Pair(Wire):
    """Two texts."""

    query: str
    document: str


class ScoreRequest(Wire):
    """Pairs to score; without `model` the first one served does it."""

    pairs: list[Pair]
    model: str | None = None


class Truncated(BaseModel):
    """How much of the texts was not read."""

    texts: int
    tokens: int


class ScoreResponse(BaseModel):
    """Scores on the model's own scale and as probabilities, in the order of the pairs."""

    model: str
    scores: list[float]
    probabilities: list[float]
    truncated: Truncated


class ExplainRequest(Pair):
    """A pair to explain; without `model` the first one served does it."""

    model: str | None = None


class OwnError(BaseModel):
    """What went wrong."""

    detail: str


STYLE = Style(OwnError, lambda failure: {"detail": failure.message})


def routes(service: Service) -> APIRouter:
    """Both of them, for these scorers."""
    router = APIRouter(route_class=StrictRoute, tags=["Matchwork"])

    @router.post(SCORE, responses=STYLE.documented)
    async def score_pairs(request: ScoreRequest) -> ScoreResponse:
        """Score pairs of texts."""
        served = service.find(request.model)
        pairs = [(pair.query, pair.document) for pair in request.pairs]
        service.check_pairs(pairs)
        answer = await service.score(served, pairs)
        return ScoreResponse(
            model=served.name,
            scores=answer.scores.tolist(),
            probabilities=answer.probabilities.tolist(),
            truncated=Truncated(**answer.cut._asdict()),
        )

    @router.post(EXPLAIN, responses=STYLE.documented)
    async def explain_pair(request: ExplainRequest) -> dict[str, Any]:
        """Why a pair gets its score: tokens, tables, weights."""
        served = service.find(request.model)
        service.check_query(request.query)
        service.check_length(request.document, "document")
        (explanation,) = await service.explain(served, [(request.query, request.document)])
        return {
            **explanation.to_dict(),
            "model": served.name,
            "views": view_tables(explanation),
        }

    return router
