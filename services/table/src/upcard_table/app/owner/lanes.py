"""Order among commands that may conflict while money is asked for: limits count what is pending.

A player's commands are decided one after the other, whatever the wallet takes for each; on tables of
exclusive boxes so are the commands that would take the same box. Others pass.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from rules_core.round import commands as c

MAX_IN_LANE: Final = 128
"""Most commands of one player, or for one box, that wait for each other; more are refused, `overloaded`."""

Item = TypeVar("Item")
Keys = frozenset[str]

_OF_A_PLAYER: Final = (
    c.PlaceBet,
    c.DoubleBets,
    c.RepeatBets,
    c.WithdrawBet,
    c.UndoBet,
    c.ClearBets,
    c.ChooseOption,
    c.ChooseFinalOption,
    c.MakePurchase,
    c.DeclinePurchase,
    # What is asked of a hold waits for the command that it may be for.
    c.DeclineBet,
)


def lane_keys(command: c.Command, *, shared: bool) -> Keys:
    """What a command has to wait for: its player's commands before it, and who else wants its boxes.

    Empty for whatever is about no player: it waits for nobody.
    """
    if not isinstance(command, _OF_A_PLAYER):
        return frozenset()
    own = f"player {command.player}"
    if shared or not isinstance(command, c.PlaceBet | c.RepeatBets):
        return frozenset({own})
    placements = command.placements if isinstance(command, c.PlaceBet) else command.previous
    return frozenset({own, *(f"box {one.box}" for one in placements)})


@dataclass(slots=True, eq=False)
class Ticket(Generic[Item]):
    """An item's place in its lanes."""

    item: Item
    keys: Keys
    number: int
    """How many came before it."""
    going: bool = field(default=False)
    """Whether it may be worked on: it is the first one in each of its lanes."""


class Lanes(Generic[Item]):
    """The lanes of one table, first come first served. Not for threads."""

    def __init__(self, limit: int = MAX_IN_LANE) -> None:
        self._limit = limit
        self._lanes: dict[str, deque[Ticket[Item]]] = {}
        self._came = 0

    def enter(self, keys: Keys, item: Item) -> Ticket[Item] | None:
        """Take a place behind everyone with a key in common; see `going`. None: a lane is full."""
        lanes = [self._lanes.get(key) for key in keys]
        if any(lane is not None and len(lane) >= self._limit for lane in lanes):
            return None
        self._came += 1
        ticket = Ticket(item, keys, self._came)
        for key in keys:
            self._lanes.setdefault(key, deque()).append(ticket)
        ticket.going = self._is_first(ticket)
        return ticket

    def leave(self, ticket: Ticket[Item]) -> list[Item]:
        """An item is over, whatever became of it: those that may go now, in the order in which they came.

        One that waits may leave, too. Leaving twice changes nothing.
        """
        behind: dict[int, Ticket[Item]] = {}
        for key in ticket.keys:
            lane = self._lanes.get(key)
            if lane is None or ticket not in lane:
                continue
            if lane[0] is ticket:
                lane.popleft()
            else:
                lane.remove(ticket)
            if lane:
                behind[id(lane[0])] = lane[0]
            else:
                del self._lanes[key]
        ticket.going = False
        waiting = sorted(behind.values(), key=lambda one: one.number)
        free = [one for one in waiting if not one.going and self._is_first(one)]
        for one in free:
            one.going = True
        return [one.item for one in free]

    def everyone(self) -> list[Item]:
        """Those that go or wait."""
        return list({id(one): one.item for lane in self._lanes.values() for one in lane}.values())

    def _is_first(self, ticket: Ticket[Item]) -> bool:
        return all(self._lanes[key][0] is ticket for key in ticket.keys)
