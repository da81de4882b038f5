"""What happens to every request before and around its route.

Key, size and kind of the body, deadline, a client that leaves, an error that nobody foresaw:
each ends in the words of the protocol that was asked, and none in a traceback or a log of texts.
"""

import asyncio
import logging
import traceback
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from matchwork.serve.failures import Failure, Kind
from matchwork.serve.keys import KeyRing, needs_key
from matchwork.serve.metrics import Metrics
from matchwork.serve.protocols.base import Style
from matchwork.serve.settings import Settings

StyleOf: TypeAlias = Callable[[str], Style]
LOGGER = logging.getLogger("matchwork.serve")
_PATIENCE = 4  # times the limit: read and thrown away, so that the client gets to read our answer


class _ClientLeft(Exception):
    pass


class Guard:
    """ASGI middleware; `paths` says of every path that there is whether it takes JSON."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        metrics: Metrics,
        style_of: StyleOf,
        paths: Mapping[str, bool],
    ) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._style_of = style_of
        self._paths = paths
        self._keys = KeyRing(settings.api_keys)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send)
        began = monotonic()
        with self._metrics.in_flight.track_inprogress():
            await self._answer(exchange)
        path = scope["path"] if scope["path"] in self._paths else "other"
        if exchange.status is None:
            self._metrics.abandoned.inc()
        else:
            self._metrics.requests.labels(path, str(exchange.status)).inc()
            self._metrics.seconds.labels(path).observe(monotonic() - began)
        milliseconds = 1000 * (monotonic() - began)
        status = exchange.status or "client left"
        LOGGER.info("%s %s %s %.1f ms", scope["method"], path, status, milliseconds)

    async def _answer(self, exchange: "_Exchange") -> None:
        failure: Failure
        try:
            async with asyncio.timeout(self._settings.deadline_ms / 1000):
                await self._forward(exchange)
            return
        except _ClientLeft:
            return
        except Failure as found:
            failure = found
        except TimeoutError:
            limit = self._settings.deadline_ms
            failure = Failure(Kind.LATE, f"no answer within {limit} ms", retry_after=1)
        except Exception as error:
            # Its message may quote a text.
            frames = "".join(traceback.format_tb(error.__traceback__))
            said = f": {error}" if self._settings.log_text else ""
            LOGGER.error("%s%s\n%s", type(error).__name__, said, frames)
            failure = Failure(Kind.INTERNAL, "internal error")
        if exchange.status is None:
            response = self._style_of(exchange.path).response(failure)
            await response(exchange.scope, exchange.receive, exchange.send)

    async def _forward(self, exchange: "_Exchange") -> None:
        if needs_key(exchange.path) and not self._keys.admits(exchange.header(b"authorization")):
            await exchange.read_body(self._settings.max_body_bytes)
            raise Failure(Kind.NO_KEY, "no valid API key; send Authorization: Bearer KEY")
        body = await exchange.read_body(self._settings.max_body_bytes)
        if exchange.scope["method"] == "POST" and self._paths.get(exchange.path):
            kind = exchange.header(b"content-type").partition(b";")[0].strip().lower()
            if kind != b"application/json":
                raise Failure(Kind.NOT_JSON, "send JSON, with Content-Type: application/json")
        if self._settings.log_text:
            LOGGER.info("%s", body.decode(errors="replace"))
        await self._run(exchange, body)

    async def _run(self, exchange: "_Exchange", body: bytes) -> None:
        """The route, for as long as the client waits."""
        given: list[Message] = [{"type": "http.request", "body": body}]

        async def receive() -> Message:
            return given.pop() if given else await asyncio.get_running_loop().create_future()

        route = asyncio.ensure_future(self._app(exchange.scope, receive, exchange.send))
        left = asyncio.ensure_future(exchange.client_left())
        try:
            await asyncio.wait({route, left}, return_when=asyncio.FIRST_COMPLETED)
            if not route.done():
                raise _ClientLeft
            route.result()
        finally:
            for task in (route, left):
                task.cancel()
            await asyncio.gather(route, left, return_exceptions=True)


class _Exchange:
    """One request and whether its answer has begun."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.path: str = scope["path"]
        self.receive = receive
        self.status: int | None = None
        self._send = send

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)

    def header(self, name: bytes) -> bytes:
        """The first header of that name, or nothing."""
        return next((value for key, value in self.scope["headers"] if key == name), b"")

    async def read_body(self, limit: int) -> bytes:
        """The whole body; a `Failure` when it is larger than the limit."""
        parts: list[bytes] = []
        num_bytes, more = 0, True
        while more and num_bytes <= _PATIENCE * limit:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise _ClientLeft
            part, more = message.get("body", b""), message.get("more_body", False)
            num_bytes += len(part)
            if num_bytes <= limit:
                parts.append(part)
            else:
                parts.clear()
        if num_bytes > limit:
            raise Failure(Kind.TOO_LARGE, f"the body is larger than {limit} bytes")
        return b"".join(parts)

    async def client_left(self) -> None:
        """Returns when the client hangs up."""
        while (await self.receive())["type"] != "http.disconnect":
            pass
