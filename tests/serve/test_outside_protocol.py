"""A protocol from an installed package: one file and an entry point."""

import os
import subprocess
import sys
from pathlib import Path

import matchwork

PROTOCOL = '''
from fastapi import APIRouter
from pydantic import BaseModel

from matchwork.serve.protocols import PROTOCOLS, ErrorFormat, Protocol
from matchwork.serve.protocols.base import StrictModel, StrictRoute
from matchwork.serve.service import Service


class Request(StrictModel):
    question: str
    answers: list[str]


class Refusal(BaseModel):
    refused: str


ERRORS = ErrorFormat(Refusal, lambda failure: {"refused": failure.message})


def routes(service: Service) -> APIRouter:
    router = APIRouter(route_class=StrictRoute)

    @router.post("/best", responses=ERRORS.documented)
    async def best(request: Request) -> dict[str, str]:
        """Return the best answer."""
        model = service.find(None)
        service.check(request.question, request.answers, "answer")
        hits, _ = await service.rerank(model, request.question, request.answers, top_k=1)
        return {"best": hits[0].document.text}

    return router


PROTOCOLS.add("best", Protocol(routes, ERRORS))
'''

PROGRAM = """
from starlette.testclient import TestClient

from matchwork.rank import BM25
from matchwork.serve import create_app

with TestClient(create_app([BM25.fit(["a red fox", "a blue whale"])])) as client:
    body = {"question": "fox", "answers": ["a whale", "a fox"]}
    assert client.post("/best", json=body).json() == {"best": "a fox"}
    answer = client.post("/best", json={**body, "answers": []})
    assert answer.status_code == 422
    assert answer.json() == {"refused": "answers must not be empty: give at least one"}
    answer = client.post("/best", json={**body, "question": 7})
    assert answer.json() == {"refused": "question: Input should be a valid string"}
    answer = client.post("/best", content=b"{}")
    assert (answer.status_code, set(answer.json())) == (415, {"refused"})
    assert "/best" in client.get("/openapi.json").json()["paths"]
    assert 'path="/best"' in client.get("/metrics").text
"""


def test_a_protocol_of_another_package(tmp_path):
    (tmp_path / "best_protocol.py").write_text(PROTOCOL)
    info = tmp_path / "best_protocol-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: best-protocol\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[matchwork.plugins]\nbest = best_protocol\n")
    paths = [str(tmp_path), str(Path(matchwork.__file__).parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
