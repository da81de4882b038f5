"""Cohere's `POST /v2/rerank`, https://docs.cohere.com/reference/rerank.

Spans come from our explanations, and only where `relevant_spans` asks for them.
"""

from asyncio import to_thread
from collections.abc import Sequence
from typing import Annotated
from uuid import uuid4

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from matchwork.serve.failures import Kind
from matchwork.serve.protocols.base import TRUNCATION_HEADER, StrictRoute, Style, Wire
from matchwork.serve.served import Served
from matchwork.serve.service import Service
from matchwork.types import TextPair

PATH = "/v2/rerank"
_BAD = 400
_WITHOUT_SPANS = ("disabled", "off", "none")


class SpanOptions(Wire):
    """Which parts of a document are shown: any `mode` but "disabled" shows them."""

    mode: str = "enabled"
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    max_spans: Annotated[int, Field(ge=1)] | None = None


class CohereRequest(Wire):
    """What Cohere's clients send."""

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
    """One document; `index` is its place in the request."""

    index: int
    relevance_score: float
    relevant_spans: list[RelevantSpan] | None = None


class ApiVersion(BaseModel):
    """Which protocol answered."""

    version: str = "2"
    is_experimental: bool = False


class BilledUnits(BaseModel):
    """One search, as Cohere counts; nobody is billed."""

    search_units: int = 1


class CohereMeta(BaseModel):
    """About the answer; `warnings` say how much of the texts was not read."""

    api_version: ApiVersion = ApiVersion()
    billed_units: BilledUnits = BilledUnits()
    warnings: list[str] | None = None


class CohereResponse(BaseModel):
    """What Cohere's clients read."""

    id: str
    results: list[CohereResult]
    meta: CohereMeta


class CohereError(BaseModel):
    """What went wrong."""

    message: str


STYLE = Style(
    CohereError,
    lambda failure: {"message": failure.message},
    dict.fromkeys((Kind.SYNTAX, Kind.INVALID, Kind.EMPTY, Kind.TOO_MANY, Kind.TOO_LONG), _BAD),
)


def routes(service: Service) -> APIRouter:
    """The protocol for these scorers."""
    router = APIRouter(route_class=StrictRoute, tags=["Cohere"])

    @router.post(PATH, responses=STYLE.documented, response_model_exclude_none=True)
    async def cohere_rerank(request: CohereRequest, response: Response) -> CohereResponse:
        """Rank documents as Cohere's API does."""
        served = service.find(request.model)
        service.check(request.query, request.documents)
        options = _wanted_spans(request)
        if options is not None:
            served.require_explainer()  # before anything is ranked
        documents = request.documents
        if request.max_tokens_per_doc is not None:
            documents = await to_thread(served.shorten, documents, request.max_tokens_per_doc)
        ranking, answer = await service.rank(served, request.query, documents)
        lines = service.keep(ranking, request.top_n)
        cut = answer.cut
        pairs = [(request.query, documents[line.place]) for line in lines]
        spans = await _spans(service, served, pairs, options)
        response.headers[TRUNCATION_HEADER] = f"texts={cut.texts}, tokens={cut.tokens}"
        return CohereResponse(
            id=str(uuid4()),
            results=[
                CohereResult(
                    index=line.place, relevance_score=line.probability, relevant_spans=found
                )
                for line, found in zip(lines, spans, strict=True)
            ],
            meta=CohereMeta(warnings=[str(cut)] if cut.texts else None),
        )

    return router


def _wanted_spans(request: CohereRequest) -> SpanOptions | None:
    options = request.relevant_spans
    return None if options is None or options.mode in _WITHOUT_SPANS else options


async def _spans(
    service: Service, served: Served, pairs: Sequence[TextPair], wanted: SpanOptions | None
) -> Sequence[list[RelevantSpan] | None]:
    if wanted is None or not pairs:
        return [None] * len(pairs)
    return [
        [
            RelevantSpan(start=span.start, end=span.end, score=span.score)
            for span in explanation.spans(wanted.threshold, wanted.max_spans)
        ]
        for explanation in await service.explain(served, pairs)
    ]
