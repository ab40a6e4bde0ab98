"""What goes wrong on a page: raised anywhere in a page's route, answered as a page or as JSON."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request

__all__ = ["API", "STAFF", "PageProblem", "is_api", "is_page"]

STAFF: Final = "/staff"
"""Paths of staff's pages begin so."""
API: Final = "/staff/api/"
"""And those of calls that pages and studio software make."""


class PageProblem(Exception):
    """A page that cannot be shown, or an action that is not done.

    `key` names the English text ("area.key"), `values` what stands in it. Its last part is the `code` of the
    answer in JSON. `redirect`: where a browser goes in place of being told.
    """

    def __init__(
        self,
        status: int,
        key: str,
        *,
        redirect: str | None = None,
        retry_after_s: float | None = None,
        **values: object,
    ) -> None:
        super().__init__(f"{status} {key}")
        self.status = status
        self.key = key
        self.values = values
        self.redirect = redirect
        self.retry_after_s = retry_after_s

    @property
    def code(self) -> str:
        """A slug that programs read."""
        return self.key.rpartition(".")[2]


def is_api(request: Request) -> bool:
    """Whether a call's answers are JSON."""
    return request.url.path.startswith(API)


def is_page(request: Request) -> bool:
    """Whether a call is for staff's pages, or their API."""
    return request.url.path == STAFF or request.url.path.startswith(f"{STAFF}/")
