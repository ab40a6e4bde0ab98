"""What an owner has in hand: the calls that wait for it, and their works."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import Any, Final, cast, get_args

from rules_core.round import commands as c
from rules_core.round.refusal import Refusal
from upcard_table.app.calls import Result, RoundWork, TableCall, Work
from upcard_table.app.funding.needs import Needed
from upcard_table.app.owner.lanes import Ticket
from upcard_table.app.ports import HoldsAnswer

_ARRIVES: Final = frozenset(
    kind for kind in get_args(c.Command) if "arrived_at" in {field.name for field in fields(kind)}
)
_ACTS: Final = frozenset(
    kind for kind in get_args(c.Command) if "at" in {field.name for field in fields(kind)}
)
_BY: Final = frozenset(kind for kind in get_args(c.Command) if "by" in {field.name for field in fields(kind)})
_FUNDED: Final = frozenset(
    kind for kind in get_args(c.Command) if "funds" in {field.name for field in fields(kind)}
)
_may_command = re.compile(r"(?:dealer|staff):[A-Za-z0-9_-]{1,64}|system").fullmatch

Answered = Sequence[Result] | bytes


@dataclass(slots=True, eq=False)
class OpenCall:
    """A call that has no answer yet."""

    call: TableCall
    arrived_us: int
    """When it reached the owner: this decides whether it was in time."""
    arrived_at: str
    answer: asyncio.Future[Answered]
    results: list[Result | None]
    left: int
    """Works without a result."""
    looked_up: bool
    """Whether it is known that no answer is stored for it."""
    begun: bool = False
    """Whether any of it was decided: from then on it cannot be taken back."""
    dropped: bool = False
    """Whether it was given up, with an error: what is left of it is not done."""

    @property
    def gone(self) -> bool:
        """Whether nobody waits for it, and nothing of it was begun."""
        return self.answer.done() and not self.begun

    def succeed(self, answered: Answered) -> None:
        """Answer whoever waits, if anybody still does."""
        if not self.answer.done():
            self.answer.set_result(answered)

    def fail(self, error: Exception) -> None:
        """Tell whoever waits why there is no answer, and do nothing more of it."""
        self.dropped = True
        if not self.answer.done():
            self.answer.set_exception(error)


@dataclass(slots=True, eq=False)
class Item:
    """One work of a call, on its way to a result."""

    call: OpenCall
    index: int
    work: Work
    cause: str | None
    """The causation id of its events. Of a call with a request id it is made of that, and tells it again."""
    number: int = 0
    """The round it was bound to; 0: to none yet."""
    command: c.Command | None = None
    """The round's command, stamped."""
    needed: Needed | None = None
    """What the wallet was asked to hold."""
    funds: HoldsAnswer | None = None
    """Its answer, once it is there."""
    ticket: Ticket[Item] | None = None
    """Its place in the lanes of its player and boxes."""
    fenced: bool = False
    """Whether the pools were fenced for it."""
    refusal: Refusal | None = None
    """What stood in its way before it could be decided."""

    @property
    def result(self) -> Result | None:
        """Its result, if it has one."""
        return self.call.results[self.index]


def open_call(
    call: TableCall, arrived_us: int, arrived_at: str, answer: asyncio.Future[Answered]
) -> OpenCall:
    """A call as it arrives."""
    works = len(call.works)
    return OpenCall(call, arrived_us, arrived_at, answer, [None] * works, works, call.answer is None)


def items_of(call: OpenCall) -> list[Item]:
    """The works of a call."""
    slot = call.call.answer
    if slot is None:
        return [Item(call, index, work, work.by.causation_id) for index, work in enumerate(call.call.works)]
    key = f"{slot.key.caller}\n{slot.key.method}\n{slot.key.request_id}".encode()
    return [
        Item(call, index, work, sha256(b"%d\n%b" % (index, key)).hexdigest()[:32])
        for index, work in enumerate(call.call.works)
    ]


def arrives(command: c.Command) -> bool:
    """Whether a command's arrival decides: a player's. All others act when they are decided."""
    return type(command) in _ARRIVES


def stamped(work: RoundWork, arrived_at: str, at: str) -> c.Command:
    """The command with its times, who acts, and no money yet."""
    command: Any = work.command
    kind = type(command)
    changes: dict[str, Any] = {}
    if kind in _ARRIVES:
        changes["arrived_at"] = arrived_at
    elif kind in _ACTS:
        changes["at"] = at
    if kind in _FUNDED:
        changes["funds"] = "not_asked"
    if kind in _BY and _may_command(work.by.actor):
        changes["by"] = work.by.actor
    return cast("c.Command", replace(command, **changes)) if changes else command


def with_funds(command: c.Command, funds: c.Funds) -> c.Command:
    """The same command, with what became of its money."""
    return cast("c.Command", replace(cast("Any", command), funds=funds))


def is_funded(command: c.Command) -> bool:
    """Whether a command of this kind can stake money."""
    return type(command) in _FUNDED


_DEALT: Final = (c.ConfirmCards, c.CloseBetting, c.CancelRound)


def is_dealt(command: c.Command) -> bool:
    """Whether of all dealers only the one gives it who is signed in. A shoe reader signs for itself."""
    return isinstance(command, _DEALT) or getattr(command, "source", "") == "manual"
