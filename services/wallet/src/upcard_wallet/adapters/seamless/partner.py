"""A partner's wallet, whatever dialect it speaks: what it is asked and says is `upcard_seamless`."""

from typing import Protocol
from uuid import UUID

from upcard_seamless.answers import Accepted, NotSent, Refused, Unclear, Verdict
from upcard_seamless.calls import Call, CallKind, Transaction

__all__ = [
    "Accepted",
    "Call",
    "CallKind",
    "NotSent",
    "Partner",
    "Refused",
    "Transaction",
    "Unclear",
    "Verdict",
]


class Partner(Protocol):
    """One operator's wallet. Raises nothing for what a partner may do; whatever it does is a verdict."""

    @property
    def dialect_name(self) -> str:
        """How it is spoken to."""
        ...

    async def ask(self, call: Call, *, timeout_s: float, network: UUID | None = None) -> Verdict:
        """Make the call, each of its transactions at most once, and say what came of it within `timeout_s`.

        `network` is the id of this try for the partner's log and ours; one is made where none is given. When
        it is cancelled the call counts as `Unclear`.
        """
        ...
