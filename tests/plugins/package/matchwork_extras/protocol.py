"""A protocol of the service: one question, some answers, the best of them."""

from fastapi import APIRouter
from pydantic import BaseModel

from matchwork.serve.protocols import PROTOCOLS, ErrorFormat, Protocol
from matchwork.serve.protocols.base import StrictModel, StrictRoute


class Request(StrictModel):
    """A question and its possible answers."""

    question: str
    answers: list[str]


class Refusal(BaseModel):
    """What was wrong."""

    refused: str


ERRORS = ErrorFormat(Refusal, lambda failure: {"refused": failure.message})


def _routes(service):
    router = APIRouter(route_class=StrictRoute)

    @router.post("/extras/best", responses=ERRORS.documented)
    async def best(request: Request) -> dict[str, str]:
        service.check(request.question, request.answers, "answer")
        model = service.find(None)
        hits, _ = await service.rerank(model, request.question, request.answers, top_k=1)
        return {"best": hits[0].document.text}

    return router


PROTOCOLS.add("extras-best", Protocol(_routes, ERRORS))
