"""What a table's events say of who dealt and which shift it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from upcard_history.domain.fields import Fields

VERSIONS: Final[Mapping[str, int]] = dict.fromkeys(
    ("DealerSignedIn", "DealerSignedOut", "ShiftStarted", "ShiftEnded", "TableOpened", "TableClosed"), 1
)
"""The table's events that are looked at, with the versions that are known. Others are of no concern here."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A dealer signed in, or a shift began."""

    kind: str
    """`dealer` or `shift`."""
    subject: str
    after_round: int | None
    """Number of the last round opened before; None where it is not told."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The dealer signed out, or the shift ended."""

    kind: str
    after_round: int | None


def table_changes(name: str, payload: Mapping[str, object]) -> tuple[Begun | Ended, ...]:
    """What an event begins or ends, in this order. Raises PayloadError."""
    fields = Fields(payload, name)
    match name:
        case "DealerSignedIn":
            # Whoever was signed in is so no more.
            return Ended("dealer", None), Begun("dealer", fields.text("dealer"), None)
        case "DealerSignedOut":
            return (Ended("dealer", None),)
        case "ShiftStarted":
            after = fields.number("after_round")
            return Ended("shift", after), Begun("shift", fields.text("shift"), after)
        case "ShiftEnded":
            return (Ended("shift", fields.number("after_round")),)
        case "TableClosed":
            after = fields.number("after_round")
            return Ended("dealer", None), Ended("shift", after)
        case _:
            return ()
