"""Players who come through the edge: launched by their casinos, each over a WebSocket of their own.

They see what they are sent, and do what that allows: bet, change their mind, run dry, come late, sleep.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, TypeAlias, cast

from upcard_operate.demo.casino import new_id
from upcard_operate.demo.crowd import DemoPlayer
from upcard_operate.demo.deciding import Stake, finals, options, purchases, stakes_alone, stakes_together
from upcard_operate.demo.house import DemoFailed, View
from upcard_operate.demo.tables import DemoTable
from upcard_platform.play import Actions, Answer, Bet, FinalOption, Option, Placement, Purchase, Undo
from upcard_platform.player import Player

Wish: TypeAlias = Bet | FinalOption | Option | Purchase | Undo
_ALONE_MOST: Final = 4
"""Most placements of one player in a round of an exclusive table."""
_UP_CARD: Final = "dealer.4"
_HIDDEN: Final = "hidden"
_DEALT: Final = 5
"""Cards of a box before any is bought."""
_ENDS: Final = frozenset({"RoundSettled", "RoundCancelled"})
_GENEROUS: Final = 0.1
"""How many of them tip the dealer."""
_TIP: Final = 100
_SEEN_S: Final = 30.0
_KEPT: Final = 2
"""Rounds that are remembered: the latest, and the one before, of which something may still come."""


@dataclass(slots=True)
class Visitor:
    """One player at one table."""

    one: DemoPlayer
    table: DemoTable
    player: Player
    random: Random
    outcomes: Counter[str]
    _done: set[tuple[int, str, int]] = field(default_factory=set)
    """What was done already: round, what, box."""
    _placed: Counter[int] = field(default_factory=Counter)
    """Placements at an exclusive table, by round."""

    async def play(self) -> None:
        """Greet the table, and play until cancelled. Raises PlayEnded: the gateway has ended it."""
        generous = self.random.random() < _GENEROUS
        if generous:
            self._count(await self.player.chat("Good luck, everybody!"))
            self._tip(await self.player.tip(_TIP))
        async for told in self.player.messages():
            actions = self.player.actions
            if told.type not in {"own", "table", "snapshot"} or actions is None:
                continue
            if actions.place or actions.options or actions.finals or actions.purchases or self.one.late:
                await self._act(self.player.round, self._view(actions))

    def _tip(self, answer: Answer) -> None:
        self._count(answer)
        if answer.accepted:
            self.one.tipped += _TIP

    def _view(self, actions: Actions) -> View:
        """What is decided by, in the form of a view (docs/views.md)."""
        player = self.player
        boxes = [box.model_dump() for box in player.boxes]
        cards = self._public_cards()
        for box in boxes:
            cards |= {f"box.{box['box']}.{place}": card for place, card in enumerate(box["cards"]) if card}
        return {"actions": actions.model_dump(), "cards": cards, "own": {"boxes": boxes}}

    def _public_cards(self) -> dict[str, str]:
        """Cards that lie open in the round, by place: what the snapshot had, and what came since.

        A player's own news may overtake these by a moment.
        """
        player, found = self.player, dict[str, str]()
        if player.snapshot is not None and player.snapshot.round == player.round and player.snapshot.view:
            found |= player.snapshot.view["cards"]
        for event in player.events:
            if event.round == player.round and event.type in {"CardScanned", "CardRescanned"}:
                found[event.payload["place"]] = event.payload.get("card") or _HIDDEN
        return {place: card for place, card in found.items() if card != _HIDDEN}

    # ---------------------------------------------------------------------------------------- acting

    async def _act(self, number: int, view: View) -> None:
        self._done = {one for one in self._done if one[0] > number - _KEPT}
        if view["actions"]["place"]:
            await self._bet(number, view)
        elif not self.one.sleeps:
            await self._choose(number, view)
        if self.one.late and _UP_CARD in view["cards"]:
            await self._once(number, "late", 0, self._together(number))

    async def _bet(self, number: int, view: View) -> None:
        if self.one.late:
            return
        if not self.table.shared:
            await self._bet_alone(number, view)
            return
        await self._once(number, "betting", 0, self._together(number))
        if self.one.changes and self._first(number, "changed", 0):
            await self._say(Undo(id=new_id(), round=number))
            await self._say(self._together(number))

    async def _bet_alone(self, number: int, view: View) -> None:
        """At exclusive tables the boxes are few: each takes some of what is still allowed, bet by bet."""
        wanted = 1 + Random(f"{self.one.player}/{number}").randrange(_ALONE_MOST)
        stakes = stakes_alone(view, self.random)
        if not stakes or self._placed[number] >= wanted:
            return
        self._placed[number] += 1
        await self._say(Bet(id=new_id(), round=number, placements=[_placement(one) for one in stakes]))

    def _together(self, number: int) -> Bet:
        placements = [_placement(one) for one in stakes_together(self.random)]
        return Bet(id=new_id(), round=number, placements=placements)

    async def _choose(self, number: int, view: View) -> None:
        for option in options(view) if _are_dealt(view) else []:
            wish: Wish = Option(
                id=new_id(),
                round=number,
                box=option.box,
                kind=option.kind,
                positions=list(option.positions),
            )
            await self._once(number, "option", option.box, wish)
        for final in finals(view):
            wish = FinalOption(
                id=new_id(),
                round=number,
                box=final.box,
                choice=cast("Any", final.choice),
                insurance=final.insurance,
            )
            await self._once(number, "final", final.box, wish)
        for purchase in purchases(view):
            wish = Purchase(id=new_id(), round=number, box=purchase.box, buy=purchase.buy)
            await self._once(number, "purchase", purchase.box, wish)

    def _first(self, number: int, what: str, box: int) -> bool:
        """Whether this is done for the first time; it counts as done then."""
        known = (number, what, box) in self._done
        self._done.add((number, what, box))
        return not known

    async def _once(self, number: int, what: str, box: int, wish: Wish) -> None:
        if self._first(number, what, box):
            await self._say(wish)

    async def _say(self, wish: Wish) -> None:
        self._count(await self.player.say(wish))

    def _count(self, answer: Answer) -> None:
        self.outcomes["accepted" if answer.accepted else f"not accepted: {answer.reason}"] += 1


class LookerOn:
    """Somebody who has not signed in, and watches a table."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._ends: defaultdict[int, asyncio.Event] = defaultdict(asyncio.Event)

    async def watch(self) -> None:
        """Watch until cancelled. Raises PlayEnded: the gateway has ended it."""
        async for told in self._player.messages():
            if told.type == "table":
                for event in told.events:
                    if event.type in _ENDS:
                        self._ends[event.round].set()

    async def sees(self, number: int) -> None:
        """Wait until the end of a round was seen. Raises DemoFailed: it never was."""
        try:
            async with asyncio.timeout(_SEEN_S):
                await self._ends[number].wait()
        except TimeoutError:
            raise DemoFailed(f"whoever looks on has not seen the end of round {number}") from None


def _are_dealt(view: View) -> bool:
    """Whether all cards are seen that an option is chosen by."""
    boxes = [action["box"] for action in view["actions"]["options"]]
    places = [f"box.{box}.{place}" for box in boxes for place in range(_DEALT)]
    return all(place in view["cards"] for place in (_UP_CARD, *places))


def _placement(stake: Stake) -> Placement:
    return Placement(box=stake.box, wager=cast("Any", stake.wager), amount=stake.amount, blind=stake.blind)
