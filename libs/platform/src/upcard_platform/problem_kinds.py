"""What kinds of problems there are: a stable code, what happened to the money, whether to try again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Money = Literal["none_moved", "moved_once", "unknown"]
"""What a refused or failed call did to money: nothing, what was asked exactly once, or it is not known (ask
again with the same `request_id`, and it will be)."""

Retry = Literal["never", "same_request", "after_change"]
"""Whether to try again: no; the same call with the same `request_id`; only once something was changed."""

URN: Final = "urn:upcard:problem:"
"""What the type of a problem begins with; its code follows."""


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """One kind of problem, which has one code for ever."""

    status: int
    """The HTTP status."""
    title: str
    """What it is, in a few words that are the same for each problem of the kind."""
    money: Money
    retry: Retry
    advice: str
    """What a platform's programmer does about it, in a sentence."""
