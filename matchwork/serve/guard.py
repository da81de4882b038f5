"""Checks around every request: API key, body size, content type, deadline, disconnects.

Every failure, an unexpected exception included, becomes an error response in the format of the
protocol; tracebacks and texts never reach the client.
"""

import asyncio
import logging
import traceback
from collections.abc import Mapping
from time import monotonic
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from matchwork.serve.failures import Failure, Kind
from matchwork.serve.keys import KeyRing, needs_key
from matchwork.serve.metrics import Metrics
from matchwork.serve.protocols.base import DETAIL, ErrorFormat
from matchwork.serve.settings import Settings

LOGGER = logging.getLogger("matchwork.serve")
_MAX_DISCARDED = 4  # times the size limit: read and discarded, so that the client gets our answer


class Endpoint(NamedTuple):
    """A path of the service."""

    takes_json: bool
    errors: ErrorFormat


UNKNOWN = Endpoint(False, DETAIL)


class _ClientDisconnected(Exception):
    pass


class Guard:
    """ASGI middleware around the routes, with the known paths as endpoints."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        metrics: Metrics,
        endpoints: Mapping[str, Endpoint],
    ) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._endpoints = endpoints
        self._keys = KeyRing(settings.api_keys) if settings.api_keys else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, count it and log it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send)
        start = monotonic()
        with self._metrics.in_flight.track_inprogress():
            await self._answer(exchange)
        seconds = monotonic() - start
        path = exchange.path if exchange.path in self._endpoints else "other"
        if exchange.status is None:
            self._metrics.abandoned.inc()
        else:
            self._metrics.requests.labels(path, str(exchange.status)).inc()
            self._metrics.seconds.labels(path).observe(seconds)
        status = exchange.status or "client disconnected"
        LOGGER.info("%s %s %s %.1f ms", scope["method"], path, status, 1000 * seconds)

    async def _answer(self, exchange: "_Exchange") -> None:
        failure: Failure
        endpoint = self._endpoints.get(exchange.path, UNKNOWN)
        try:
            async with asyncio.timeout(self._settings.deadline_ms / 1000):
                await self._forward(exchange, endpoint)
            return
        except _ClientDisconnected:
            return
        except Failure as error:
            failure = error
        except TimeoutError:
            limit = self._settings.deadline_ms
            failure = Failure(Kind.TIMEOUT, f"no answer within {limit} ms", retry_after=1)
        except Exception as error:
            self._log(error)
            failure = Failure(Kind.INTERNAL, "internal error")
        if exchange.status is None:
            response = endpoint.errors.response(failure)
            await response(exchange.scope, exchange.receive, exchange.send)

    def _log(self, error: Exception) -> None:
        """Log the traceback; the message may quote a text, so it is logged on request only."""
        frames = "".join(traceback.format_tb(error.__traceback__))
        message = f": {error}" if self._settings.log_text else ""
        LOGGER.error("%s%s\n%s", type(error).__name__, message, frames)

    async def _forward(self, exchange: "_Exchange", endpoint: Endpoint) -> None:
        body = await exchange.read_body(self._settings.max_body_bytes)
        key = exchange.header(b"authorization")
        if self._keys and needs_key(exchange.path) and not self._keys.admits(key):
            raise Failure(Kind.NO_KEY, "no valid API key; send Authorization: Bearer KEY")
        if exchange.scope["method"] == "POST" and endpoint.takes_json:
            content_type = exchange.header(b"content-type").partition(b";")[0].strip().lower()
            if content_type != b"application/json":
                raise Failure(Kind.NOT_JSON, "send JSON, with Content-Type: application/json")
        if self._settings.log_text:
            LOGGER.info("%s", body.decode(errors="replace"))
        await self._run(exchange, body)

    async def _run(self, exchange: "_Exchange", body: bytes) -> None:
        """Run the route; cancel it when the client disconnects."""
        messages: list[Message] = [{"type": "http.request", "body": body}]

        async def receive() -> Message:
            return messages.pop() if messages else await asyncio.get_running_loop().create_future()

        route = asyncio.ensure_future(self._app(exchange.scope, receive, exchange.send))
        disconnect = asyncio.ensure_future(exchange.wait_for_disconnect())
        try:
            await asyncio.wait({route, disconnect}, return_when=asyncio.FIRST_COMPLETED)
            if not route.done():
                raise _ClientDisconnected
            route.result()
        finally:
            for task in (route, disconnect):
                task.cancel()
            await asyncio.gather(route, disconnect, return_exceptions=True)


class _Exchange:
    """One request, and the status of its answer once that has begun."""

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
        """Return the first header of that name, or nothing."""
        return next((value for key, value in self.scope["headers"] if key == name), b"")

    async def read_body(self, limit: int) -> bytes:
        """Return the whole body; raise a `Failure` when it is larger than the limit."""
        parts: list[bytes] = []
        num_bytes, more = 0, True
        while more and num_bytes <= _MAX_DISCARDED * limit:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise _ClientDisconnected
            part, more = message.get("body", b""), message.get("more_body", False)
            num_bytes += len(part)
            if num_bytes <= limit:
                parts.append(part)
            else:
                parts.clear()
        if num_bytes > limit:
            raise Failure(Kind.TOO_LARGE, f"the body is larger than {limit} bytes")
        return b"".join(parts)

    async def wait_for_disconnect(self) -> None:
        """Return when the client disconnects."""
        while (await self.receive())["type"] != "http.disconnect":
            pass
