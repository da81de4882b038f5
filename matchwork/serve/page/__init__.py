"""The page at `/`: plain files that ask nothing of anybody but this server."""

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, Request, Response

_FOLDER = Path(__file__).parent / "static"
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    # Nothing inline, nothing from elsewhere, nothing sent elsewhere.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


class _File(NamedTuple):
    content: bytes
    kind: str
    tag: str


def _read(path: Path) -> _File:
    content = path.read_bytes()
    return _File(content, _KINDS[path.suffix], f'"{sha256(content).hexdigest()[:16]}"')


def _address(path: Path) -> str:
    return "/" if path.name == "index.html" else f"/static/{path.name}"


_FILES = sorted(path for path in _FOLDER.iterdir() if path.suffix in _KINDS)
PATHS = tuple(map(_address, _FILES))
"""Where the files of the page are."""


def routes() -> APIRouter:
    """The page and its files, read once."""
    router = APIRouter(include_in_schema=False)
    known = {_address(path): _read(path) for path in _FILES}

    async def page_file(request: Request) -> Response:
        file = known[request.scope["path"]]
        headers = {**_HEADERS, "ETag": file.tag}
        if request.headers.get("if-none-match") == file.tag:
            return Response(status_code=304, headers=headers)
        return Response(file.content, media_type=file.kind, headers=headers)

    for address in known:
        router.add_api_route(address, page_file, methods=["GET", "HEAD"])
    return router
