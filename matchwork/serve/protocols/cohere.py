"""Cohere's `POST /v2/rerank`, https://docs.cohere.com/reference/rerank.

`relevant_spans` are computed from explanations, only on request.
"""

from asyncio import to_thread
from collections.abc import Sequence
from typing import Annotated
from uuid import uuid4

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from matchwork.serve.failures import Kind
from matchwork.serve.protocols.base import (
    PROTOCOLS,
    ErrorFormat,
    Protocol,
    StrictModel,
    StrictRoute,
)
from matchwork.serve.served import Served
from matchwork.serve.service import Service
from matchwork.types import TextPair

_WITHOUT_SPANS = ("disabled", "off", "none")


class SpanOptions(StrictModel):
    """Which spans of a document to return; every `mode` but "disabled" returns some."""

    mode: str = "enabled"
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    max_spans: Annotated[int, Field(ge=1)] | None = None


class CohereRequest(StrictModel):
    """A rerank request of Cohere's clients."""

    model: str
    query: str
    documents: list[str]
    top_n: Annotated[int, Field(ge=1)] | None = None
    max_tokens_per_doc: Annotated[int, Field(ge=1)] | None = None
    relevant_spans: SpanOptions | None = None


class RelevantSpan(BaseModel):
    """Code points [start, end) of the document."""

    start: int
    end: int
    score: float


class CohereResult(BaseModel):
    """A ranked document; `index` is its position in the request."""

    index: int
    relevance_score: float
    relevant_spans: list[RelevantSpan] | None = None


class CohereMeta(BaseModel):
    """Metadata; `warnings` say how much text was cut off. Nobody is billed."""

    api_version: dict[str, str | bool] = {"version": "2", "is_experimental": False}
    billed_units: dict[str, int] = {"search_units": 1}
    warnings: list[str] | None = None


class CohereResponse(BaseModel):
    """Ranked documents, best first."""

    id: str
    results: list[CohereResult]
    meta: CohereMeta


class CohereError(BaseModel):
    """Body of an error response."""

    message: str


_ERRORS = ErrorFormat(
    CohereError,
    lambda failure: {"message": failure.message},
    dict.fromkeys((Kind.SYNTAX, Kind.INVALID, Kind.EMPTY, Kind.TOO_MANY, Kind.TOO_LONG), 400),
)


def _routes(service: Service) -> APIRouter:
    router = APIRouter(route_class=StrictRoute, tags=["Cohere"])

    @router.post("/v2/rerank", responses=_ERRORS.documented, response_model_exclude_none=True)
    async def cohere_rerank(request: CohereRequest, response: Response) -> CohereResponse:
        """Rank documents as Cohere's API does."""
        served = service.find(request.model)
        service.check(request.query, request.documents)
        options = _span_options(request)
        if options is not None:
            served.require_explainer()  # before any scoring
        documents = request.documents
        if request.max_tokens_per_doc is not None:
            documents = await to_thread(served.shorten, documents, request.max_tokens_per_doc)
        hits, answer = await service.rerank(served, request.query, documents, top_k=request.top_n)
        pairs = [(request.query, documents[hit.index]) for hit in hits]
        spans = await _relevant_spans(service, served, pairs, options)
        response.headers.update(answer.headers)
        warnings = [str(answer.truncation)] if answer.truncation.texts else None
        return CohereResponse(
            id=str(uuid4()),
            results=[
                CohereResult(
                    index=hit.index,
                    relevance_score=answer.relevance[hit.index],
                    relevant_spans=of_document,
                )
                for hit, of_document in zip(hits, spans, strict=True)
            ],
            meta=CohereMeta(warnings=warnings),
        )

    return router


def _span_options(request: CohereRequest) -> SpanOptions | None:
    options = request.relevant_spans
    return None if options is None or options.mode in _WITHOUT_SPANS else options


async def _relevant_spans(
    service: Service, served: Served, pairs: Sequence[TextPair], options: SpanOptions | None
) -> Sequence[list[RelevantSpan] | None]:
    if options is None or not pairs:
        return [None] * len(pairs)
    return [
        [
            RelevantSpan(start=span.start, end=span.end, score=span.score)
            for span in explanation.spans(options.threshold, options.max_spans)
        ]
        for explanation in await service.explain(served, pairs)
    ]


PROTOCOLS.add("cohere", Protocol(_routes, _ERRORS))
