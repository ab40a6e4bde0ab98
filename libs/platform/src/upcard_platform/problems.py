"""Every problem that the platform API answers with, and the form of such an answer (RFC 9457)."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from upcard_platform import problem_codes
from upcard_platform.problem_kinds import URN, Money, ProblemKind, Retry

__all__ = ["MEDIA_TYPE", "PROBLEMS", "URN", "InvalidPlace", "Money", "ProblemBody", "ProblemKind", "Retry"]

MEDIA_TYPE: Final = "application/problem+json"


class InvalidPlace(BaseModel):
    """What is wrong at one place of a request."""

    model_config = ConfigDict(frozen=True)

    place: str = Field(description="where: body.amount, query.limit, path.player")
    wrong: str = Field(description="what is wrong there, in words")


class ProblemBody(BaseModel):
    """Why a call was not done, in the form of RFC 9457."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: str = Field(description="urn:upcard:problem: and the code")
    title: str = Field(description="what it is, the same words for each problem of this code")
    status: int = Field(description="the HTTP status")
    detail: str = Field(description="what it is this time")
    code: str = Field(description="a stable word for the kind of problem: programs look at this")
    money: Money = Field(description="what happened to the money")
    retry: Retry = Field(description="whether to try again, and how")
    retry_after_s: float | None = Field(default=None, description="when to try again, in seconds")
    request_id: str | None = Field(default=None, description="the request_id of the call, where it had one")
    instance: str | None = Field(default=None, description="the id under which our log knows this answer")
    errors: list[InvalidPlace] | None = Field(default=None, description="what is wrong where, if invalid")


def _merged() -> Mapping[str, ProblemKind]:
    """The codes of all parts; each module of `problem_codes` has its own. Raises ValueError for one twice."""
    found: dict[str, ProblemKind] = {}
    for part in pkgutil.iter_modules(problem_codes.__path__):
        module: Any = importlib.import_module(f"{problem_codes.__name__}.{part.name}")
        for code, kind in module.CODES.items():
            if code in found:
                raise ValueError(f"two parts have a problem {code}")
            found[code] = kind
    return MappingProxyType(found)


PROBLEMS: Final = _merged()
"""All kinds of problems by their codes."""
