"""Our own `POST /score` and `POST /explain`, for pairs of texts."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from matchwork.explain import view_tables
from matchwork.serve.protocols.base import DETAIL, PROTOCOLS, Protocol, StrictModel, StrictRoute
from matchwork.serve.service import Service


class Pair(StrictModel):
    """Two texts."""

    query: str
    document: str


class ScoreRequest(StrictModel):
    """Pairs to score; without `model` the first model scores them."""

    pairs: list[Pair]
    model: str | None = None


class Truncated(BaseModel):
    """Amount of text that was cut off."""

    texts: int
    tokens: int


class ScoreResponse(BaseModel):
    """Raw scores and probabilities, in the order of the pairs."""

    model: str
    scores: list[float]
    probabilities: list[float]
    truncated: Truncated


class ExplainRequest(Pair):
    """A pair to explain; without `model` the first model explains it."""

    model: str | None = None


def _routes(service: Service) -> APIRouter:
    router = APIRouter(route_class=StrictRoute, tags=["Matchwork"])

    @router.post("/score", responses=DETAIL.documented)
    async def score_pairs(request: ScoreRequest) -> ScoreResponse:
        """Score pairs of texts."""
        served = service.find(request.model)
        pairs = [(pair.query, pair.document) for pair in request.pairs]
        service.check_pairs(pairs)
        answer = await service.score(served, pairs)
        return ScoreResponse(
            model=served.name,
            scores=answer.scores.tolist(),
            probabilities=answer.relevance.tolist(),
            truncated=Truncated(**answer.truncation._asdict()),
        )

    @router.post("/explain", responses=DETAIL.documented)
    async def explain_pair(request: ExplainRequest) -> dict[str, Any]:
        """Explain the score of a pair: tokens, tables, weights, views."""
        served = service.find(request.model)
        service.check_query(request.query)
        service.check_length(request.document, "document")
        (explanation,) = await service.explain(served, [(request.query, request.document)])
        views = view_tables(explanation)
        return {**explanation.to_dict(), "model": served.name, "views": views}

    return router


PROTOCOLS.add("matchwork", Protocol(_routes))
