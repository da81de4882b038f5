"""Clients of a service, in a process of their own: `python -m benchmarks.load_generator < PLAN`.

Bare sockets, because a client library would need more of the machine than the service does.
"""

import asyncio
import json
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import cycle
from time import perf_counter

PATIENCE = 30.0  # seconds before an answer counts as one that never came
HUNG = 0  # the status of those, and of connections that broke


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Who asks what: clients that each wait for their answer, or so many requests a second.

    With a `rate`, requests come at random moments, whether earlier ones are answered or not.
    """

    host: str
    port: int
    path: str
    bodies: list[str]
    seconds: float
    clients: int = 1
    rate: float | None = None

    def to_json(self) -> str:
        """What the generator reads."""
        return json.dumps(asdict(self))


class Clients:
    """Asks, and keeps (status, seconds) of every answer."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.answers: list[tuple[int, float]] = []
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        head = f"POST {plan.path} HTTP/1.1\r\nHost: load\r\nContent-Type: application/json\r\n"
        bodies = [body.encode() for body in plan.bodies]
        self._requests = cycle(
            f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body for body in bodies
        )

    async def wait_in_turn(self) -> None:
        """Every client asks again as soon as it has its answer."""
        end = perf_counter() + self.plan.seconds

        async def one() -> None:
            while perf_counter() < end:
                await self.ask(perf_counter())

        await asyncio.gather(*(one() for _ in range(self.plan.clients)))

    async def keep_coming(self, rate: float) -> None:
        """Requests begin when their moment has come; waiting for a connection counts."""
        chance = random.Random(0)
        moment = began = perf_counter()
        asked = set()
        while (moment := moment + chance.expovariate(rate)) < began + self.plan.seconds:
            await asyncio.sleep(max(0.0, moment - perf_counter()))
            task = asyncio.create_task(self.ask(moment))
            asked.add(task)
            task.add_done_callback(asked.discard)
        await asyncio.gather(*asked)

    async def ask(self, began: float) -> None:
        """One request."""
        try:
            async with asyncio.timeout(PATIENCE), self._connection() as (reader, writer):
                writer.write(next(self._requests))
                head = await reader.readuntil(b"\r\n\r\n")
                length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
                await reader.readexactly(int(length))
                status = int(head.split(maxsplit=2)[1])
        except (OSError, EOFError, TimeoutError):
            status = HUNG
        self.answers.append((status, perf_counter() - began))

    @asynccontextmanager
    async def _connection(
        self,
    ) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        while self._idle and self._idle[-1][0].at_eof():  # long idle, and closed by the service
            self._idle.pop()[1].close()
        pair = self._idle.pop() if self._idle else None
        pair = pair or await asyncio.open_connection(self.plan.host, self.plan.port)
        try:
            yield pair
        except BaseException:
            pair[1].close()
            raise
        self._idle.append(pair)

    def close(self) -> None:
        """Hang up."""
        for _, writer in self._idle:
            writer.close()


async def _run(plan: Plan) -> None:
    clients, began = Clients(plan), perf_counter()
    await (clients.keep_coming(plan.rate) if plan.rate else clients.wait_in_turn())
    clients.close()
    print(json.dumps({"seconds": perf_counter() - began, "answers": clients.answers}))


if __name__ == "__main__":
    asyncio.run(_run(Plan(**json.load(sys.stdin))))
