"""A live-shared table whose cards are known beforehand, and players who do as they are told."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Final

from rules_core.cards import CARD_TEXTS
from servicekit.grpc import acting_as
from tests.end_to_end.gateway.processes import CALL_S, CURRENCY, fresh
from upcard.table.v1 import shoe_pb2, table_pb2
from upcard_operate.demo.casino import PLATFORM, Casino
from upcard_operate.demo.house import House, View, accepted
from upcard_operate.demo.tables import DemoTable, config_of

HANDS: Final = {"box.1": "Qs Qh 9d 7s 3c", "box.2": "As Ah Kd 7c 2s", "dealer": "Ac Kc Qd 8h 5c"}
"""Boxes 1 and 2 have pairs, and the dealer a game that loses to both."""
ANTE: Final = 100
Act = Callable[[int], Awaitable[None]]


class ScriptedTable(House):
    """Deals the same cards in every round: those of boxes, `dealer`, `switch`, `draw`; then what is left."""

    def __init__(self, casino: Casino, name: str, hands: Mapping[str, str] = HANDS) -> None:
        self._places = {
            f"{hand}.{place}": card
            for hand, cards in hands.items()
            for place, card in enumerate(cards.split())
        }
        table = DemoTable(name, "live-shared@1", None)
        config = config_of(table)
        # Long windows: a busy machine must not decide what is played.
        config.durations.betting_ms = 6_000
        config.durations.options_ms = 6_000
        config.durations.final_options_ms = 3_000
        super().__init__(casino, table, Random(1), config)

    async def play(self, acts: Mapping[str, Act]) -> int:
        """A whole round, in which this is done as the windows open; its number."""
        number = await self.open_round()
        self._spares = iter([card for card in CARD_TEXTS if card not in self._places.values()])

        async def on_window(view: View) -> None:
            act = acts.get(view["window"]["kind"])
            if act is not None:
                await act(number)

        last = await self.deal(number, on_window)
        assert last["step"] == "settled", last["step"]
        return number

    async def _lay(self, number: int, desk: View, cards: Iterator[str]) -> bool:
        place = desk["awaited"]
        if place is None:
            return await super()._lay(number, desk, cards)
        card = self._places.get(place) or next(self._spares)
        scan = shoe_pb2.ScanCardRequest(
            request_id=fresh(),
            table=self.table.table,
            round=number,
            scan_id=fresh(),
            card=card,
            card_salt=secrets.token_bytes(16),
        )
        with acting_as(self._reader):
            laid = accepted("scan a card", await self._casino.shoe.ScanCard(scan, timeout=CALL_S))
        self._done = laid.laid.position
        return True

    # --------------------------------------------------------------------------------------- players

    async def bet(self, number: int, who: str, *wagers: table_pb2.Wager) -> str:
        """A player's bets; `accepted`, or why they are not."""
        item = table_pb2.PlaceBetsItem(player=who, currency=CURRENCY, bet_id=fresh(), placements=wagers)
        request = table_pb2.PlaceBetsRequest(
            request_id=fresh(), table=self.table.table, round=number, items=[item]
        )
        with acting_as(PLATFORM):
            return _said((await self._casino.table.PlaceBets(request, timeout=CALL_S)).items)

    async def choose_bet(self, number: int, who: str, box: int) -> str:
        """A player bets with an open box; `accepted`, or why not."""
        item = table_pb2.ChooseOptionsItem(player=who, box=box, kind="bet", bet_id=fresh())
        request = table_pb2.ChooseOptionsRequest(
            request_id=fresh(), table=self.table.table, round=number, items=[item]
        )
        with acting_as(PLATFORM):
            return _said((await self._casino.table.ChooseOptions(request, timeout=CALL_S)).items)


def ante(box: int) -> table_pb2.Wager:
    """An ante; box 2 is open, the others are blind and stake their bet with it."""
    return table_pb2.Wager(box=box, wager="ante", amount=ANTE, blind=box != 2)


def _said(items: Sequence[table_pb2.ItemOutcome]) -> str:
    (item,) = items
    if item.HasField("declined"):
        return item.declined.reason
    return item.refusal.reason if item.HasField("refusal") else "accepted"
