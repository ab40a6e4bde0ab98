"""Files of pages that every browser gets: read once at the start, named with a digest of what they hold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

__all__ = ["StaticFile", "load_static", "router", "static_path"]

router = APIRouter(include_in_schema=False)

_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_FOR_EVER: Final = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One file as it is sent."""

    body: bytes = field(repr=False)
    media_type: str
    digest: str


def load_static() -> Mapping[str, StaticFile]:
    """All files of pages/static by their names."""
    return dict(_found())


def _found() -> Iterator[tuple[str, StaticFile]]:
    for file in (files("upcard_gateway") / "pages" / "static").iterdir():
        media_type = _TYPES.get(file.name.rpartition(".")[2])
        if media_type is not None:
            body = file.read_bytes()
            yield file.name, StaticFile(body, media_type, hashlib.sha256(body).hexdigest()[:16])


def static_path(found: Mapping[str, StaticFile], name: str) -> str:
    """The address of a file, which is another one when the file is. Raises KeyError: there is none."""
    return f"/static/{name}?v={found[name].digest}"


@router.get("/static/{name}")
async def static_file(name: str, request: Request, v: str = "") -> Response:
    """A file of pages. With the digest in its address it may be kept for ever."""
    found: StaticFile | None = request.app.state.pages.static.get(name)
    if found is None:
        raise HTTPException(404)
    headers = {"ETag": f'"{found.digest}"', "Cache-Control": "no-cache"}
    if v == found.digest:
        headers["Cache-Control"] = _FOR_EVER
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(found.body, media_type=found.media_type, headers=headers)
