"""The page at `/`: static files that load nothing from other sites."""

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, Request, Response

from matchwork.serve.service import Service

_FOLDER = Path(__file__).parent / "static"
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    # No inline scripts or styles; nothing is loaded from, or sent to, other sites.
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
    media_type: str
    etag: str


def _read(path: Path) -> _File:
    content = path.read_bytes()
    return _File(content, _MEDIA_TYPES[path.suffix], f'"{sha256(content).hexdigest()[:16]}"')


def _path_of(path: Path) -> str:
    return "/" if path.name == "index.html" else f"/static/{path.name}"


_FILES = sorted(path for path in _FOLDER.iterdir() if path.suffix in _MEDIA_TYPES)
PATHS = tuple(map(_path_of, _FILES))
"""Paths of the files of the page."""


def routes(_: Service) -> APIRouter:
    """Return routes for the files of the page, which are read once."""
    router = APIRouter(include_in_schema=False)
    files = {_path_of(path): _read(path) for path in _FILES}

    async def page_file(request: Request) -> Response:
        file = files[request.scope["path"]]
        headers = {**_HEADERS, "ETag": file.etag}
        if request.headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=headers)
        return Response(file.content, media_type=file.media_type, headers=headers)

    for path in files:
        router.add_api_route(path, page_file, methods=["GET", "HEAD"])
    return router
