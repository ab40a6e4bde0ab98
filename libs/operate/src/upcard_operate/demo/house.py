"""One table's side of the game: floor, dealer and shoe reader, by the book and with a shuffled deck."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Coroutine, Iterator
from random import Random
from typing import Any, Final, TypeVar

from google.protobuf.message import Message

from rules_core.cards import CARD_TEXTS
from servicekit.grpc import acting_as
from upcard.table.v1 import shoe_pb2, table_pb2, watching_pb2
from upcard_operate.demo.casino import Casino, dealer, new_id, staff
from upcard_operate.demo.tables import DemoTable, config_of

M = TypeVar("M", bound=Message)

LOOK_S: Final = 0.05
"""Pause between two looks at the table."""
ROUND_S: Final = 180.0
"""Longest that a round may take."""
_CALL_S: Final = 30.0

View = dict[str, Any]


class DemoFailed(Exception):
    """The demonstration cannot go on: what was asked, and what the service answered."""


def accepted(what: str, answer: M) -> M:
    """An answer that must not be a refusal. Raises DemoFailed."""
    if answer.HasField("refusal"):
        refusal = answer.refusal  # type: ignore[attr-defined]  # as just seen
        raise DemoFailed(f"{what}: refused: {refusal.reason}: {refusal.message}")
    return answer


async def open_table(casino: Casino, name: str, config: table_pb2.TableConfig) -> None:
    """Open a table and start a shift there, as the floor does. Raises DemoFailed."""
    with acting_as(staff("floor-1")):
        request = table_pb2.OpenTableRequest(request_id=new_id(), table=name, config=config)
        accepted("open the table", await casino.table.OpenTable(request, timeout=_CALL_S))
        start = table_pb2.StartShiftRequest(request_id=new_id(), table=name, shift=new_id())
        accepted("start a shift", await casino.table.StartShift(start, timeout=_CALL_S))


class House:
    """Runs one table."""

    def __init__(
        self, casino: Casino, table: DemoTable, random: Random, config: table_pb2.TableConfig | None = None
    ) -> None:
        self.table = table
        self._config = config_of(table) if config is None else config
        self._casino = casino
        self._random = random
        self._floor = staff("floor-1")
        self._dealer = dealer(f"dealer-{table.table}")
        self._reader = dealer(f"shoe-{table.table}")
        self._deck = f"deck-{table.table}"
        self._done = 0
        """Position of this dealer's last act in the round: a view that is older tells of the past."""

    async def open(self) -> None:
        """Open the table, sign the dealer in, bring a deck and verify it."""
        calls = self._casino.table
        name = self.table.table
        await open_table(self._casino, name, self._config)
        with acting_as(self._floor):
            bring = table_pb2.IntroduceDeckRequest(request_id=new_id(), table=name, deck=self._deck)
            accepted("introduce a deck", await calls.IntroduceDeck(bring, timeout=_CALL_S))
        with acting_as(self._dealer):
            sign_in = table_pb2.SignInDealerRequest(request_id=new_id(), table=name)
            accepted("sign in", await calls.SignInDealer(sign_in, timeout=_CALL_S))
            verify = table_pb2.VerifyDeckRequest(request_id=new_id(), table=name, deck=self._deck)
            accepted("verify the deck", await calls.VerifyDeck(verify, timeout=_CALL_S))

    async def open_round(self) -> int:
        """Shuffle and open the next round; its number."""
        name = self.table.table
        with acting_as(self._dealer):
            shuffle = table_pb2.ShuffleDeckRequest(request_id=new_id(), table=name, deck=self._deck)
            accepted("shuffle", await self._casino.table.ShuffleDeck(shuffle, timeout=_CALL_S))
            request = table_pb2.OpenRoundRequest(request_id=new_id(), table=name)
            opened = accepted("open a round", await self._casino.table.OpenRound(request, timeout=_CALL_S))
        number: int = opened.changed.round
        return number

    async def deal(self, number: int, on_window: Callable[[View], Coroutine[Any, Any, None]]) -> View:
        """Do what a dealer does until the round is over; the last view.

        `on_window` is called once for each window that opens, and runs beside; betting begins anew when
        nobody's bet was accepted.
        """
        cards = iter(self._random.sample(CARD_TEXTS, len(CARD_TEXTS)))
        windows: set[tuple[str, int | None, str]] = set()
        self._done = 0
        async with asyncio.timeout(ROUND_S), asyncio.TaskGroup() as beside:
            while True:
                view = await self.view(number)
                if view["step"] in {"settled", "cancelled"}:
                    return view
                if (window := _window_of(view)) is not None and window not in windows:
                    windows.add(window)
                    beside.create_task(on_window(view))
                if not await self._lay(number, view["desk"], cards):
                    await asyncio.sleep(LOOK_S)

    async def view(self, number: int) -> View:
        """The round as the dealer sees it."""
        request = watching_pb2.GetRoundRequest(table=self.table.table, round=number)
        with acting_as(self._dealer):
            while True:
                answer = await self._casino.table.GetRound(request, timeout=_CALL_S)
                if accepted("look at the round", answer).position >= self._done:
                    view: View = json.loads(answer.view)
                    return view
                await asyncio.sleep(LOOK_S)

    async def _lay(self, number: int, desk: View, cards: Iterator[str]) -> bool:
        """Lay the cards that are awaited, or confirm them; whether there was anything to do."""
        name = self.table.table
        if desk["awaited"] is not None:
            with acting_as(self._reader):
                for _ in range(desk["to_lay"]):
                    scan = shoe_pb2.ScanCardRequest(
                        request_id=new_id(),
                        table=name,
                        round=number,
                        scan_id=new_id(),
                        card=next(cards),
                        card_salt=secrets.token_bytes(16),
                    )
                    laid = accepted("scan a card", await self._casino.shoe.ScanCard(scan, timeout=_CALL_S))
                    self._done = laid.laid.position
            return True
        if desk["confirm"]:
            request = table_pb2.ConfirmCardsRequest(request_id=new_id(), table=name, round=number)
            with acting_as(self._dealer):
                # The table may have confirmed them by itself meanwhile: then this is refused, which is right.
                answer = await self._casino.table.ConfirmCards(request, timeout=_CALL_S)
                self._done = max(self._done, answer.changed.position)
            return True
        return False


def _window_of(view: View) -> tuple[str, int | None, str] | None:
    """What tells a window from others."""
    window = view["window"]
    if window is None:
        return None
    return window["kind"], window["box"], window["closes_at"] if window["kind"] == "betting" else ""
