"""Golden settlements (tests/golden), dealt at tables and paid by the wallet: to the unit what is written.

A case that cannot be dealt is one whose boxes no player can hold at that table; it is named here, so that no
case gets lost.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from eventstore.postgres import PostgresEventStore
from rules_core.cards import CARD_OF, Card
from rules_core.round import commands as c
from rules_core.rulesets.shipped import shipped
from tests.end_to_end.table.crowd import perform
from tests.end_to_end.table.play import Table, Terms, bet_item, fresh, open_account, until_balance
from tests.end_to_end.table.processes import PLATFORM, Casino
from upcard.table.v1 import table_pb2 as pb

pytestmark = pytest.mark.asyncio(loop_scope="module")

GOLDEN: Final = json.loads((Path(__file__).parents[2] / "golden" / "settlements.json").read_bytes())
SETTLED: Final = [row for row in GOLDEN if row.get("expected") != {"rejected": True}]
MONEY: Final = 100_000_000
AT_ONCE: Final = 8
CANNOT_BE_DEALT: Final[Mapping[str, str]] = {}
"""Cases by id, with the slug by which their bets are refused."""


@dataclass
class Dealt:
    """A case as it is dealt."""

    casino: Casino
    table: Table
    case: dict[str, Any]
    names: dict[str, str]

    def plan(self) -> dict[str, Card]:
        """The cards that matter, by their places."""
        places = {f"dealer.{i}": text for i, text in enumerate(self.case["dealer"]["cards"])}
        places |= {f"draw.{i}": text for i, text in enumerate(self.case["dealer"]["draws"])}
        shared = shipped(self.case["ruleset"]).shared
        for box in self.case["boxes"]:
            places |= {f"box.{box['box']}.{i}": text for i, text in enumerate(box["cards"])}
            option = box["option"]
            bought = option.get("cards") or ([option["card"]] if "card" in option else [])
            where = "switch" if shared else f"replacement.{box['box']}"
            places |= {f"{where}.{i}": text for i, text in enumerate(bought)}
        return {place: CARD_OF[text] for place, text in places.items()}

    async def bet(self) -> str | None:
        """Place all bets; the slug by which one was refused."""
        by_player: dict[str, list[pb.Wager]] = {}
        for box in self.case["boxes"]:
            wagers = by_player.setdefault(box["player"], [])
            for name in ("ante", "bonus_player", "bonus_dealer"):
                if amount := box["wagers"].get(name, 0):
                    wagers.append(pb.Wager(box=box["box"], wager=name, amount=amount, blind=box["blind"]))
        items = [bet_item(*wagers, who=self.names[name]) for name, wagers in by_player.items()]
        for outcome in await self.table.bet(PLATFORM, items):
            if outcome.WhichOneof("result") == "refusal":
                return str(outcome.refusal.reason)
            assert outcome.HasField("accepted"), outcome
        return None

    async def play(self) -> None:
        """Deal and decide until the round is over."""
        table, plan = self.table, self.plan()
        table.reserve(plan.values())
        await table.until("the deal", lambda: table.step == "lay_card")
        while not table.over():
            await table.until(
                "something to do", lambda: table.over() or table.step in {"lay_card", "close_window"}
            )
            if table.over():
                return
            if table.step == "lay_card":
                await table.deal(plan.get)
                continue
            opened = table.window
            for box, who in list(table.state.undecided):
                command = self._decision(box, who)
                if command is not None:
                    outcome = await perform(table, command)
                    assert outcome.HasField("accepted"), (command, outcome)
            await table.until_closed(opened)

    def _decision(self, box: int, who: str) -> c.Command | None:
        said = next(
            one for one in self.case["boxes"] if one["box"] == box and self.names[one["player"]] == who
        )
        window = self.table.state.window
        assert window is not None
        if window.kind == "options":
            option = said["option"]
            if option["kind"] == "none":
                return None
            return c.ChooseOption(who, box, option["kind"], "", tuple(option.get("positions", ())), fresh())
        if window.kind == "purchase":
            if said["purchase"]:
                return c.MakePurchase(who, box, fresh(), "")
            return c.DeclinePurchase(who, box, "")
        insurance = said.get("insurance", 0)
        if said["final"] == "fold":
            return c.ChooseFinalOption(who, box, "fold", "")
        choice = "stand" if said["option"]["kind"] == "bet" else "bet"
        return c.ChooseFinalOption(who, box, choice, "", insurance, fresh())  # type: ignore[arg-type]  # either of two words

    async def check(self, expected: list[dict[str, Any]]) -> None:
        """What was settled, and what everybody has."""
        settled = self.table.settled()
        found = {(result.player, result.box): result for one in settled.values() for result in one.boxes}
        for entry in expected:
            result = found[self.names[entry["player"]], entry["box"]]
            lines = {line.wager: {"stake": line.stake, "returned": line.returned} for line in result.lines}
            assert lines == entry["lines"], entry
            sums = (result.outcome, result.staked, result.returned, result.net)
            assert sums == tuple(entry[key] for key in ("outcome", "staked", "returned", "net")), entry
        for name in self.names.values():
            await until_balance(self.casino.calls, name, MONEY + settled[name].net)


async def deal(casino: Casino, log: PostgresEventStore, row: dict[str, Any]) -> str | None:
    """Deal one case; the slug by which its bets were refused."""
    case = row["case"]
    passes = any(box["option"]["kind"] == "none" and not box["blind"] for box in case["boxes"])
    terms = Terms(
        case["ruleset"],
        betting_ms=1_500,
        window_ms=300 if passes else 10_000,
        max_payout=case["max_payout"],
        box_caps={box["box"]: box["max_payout"] for box in case["boxes"] if "max_payout" in box},
    )
    names = {box["player"]: f"p{fresh()[:10]}" for box in case["boxes"]}
    for name in names.values():
        await open_account(casino.calls, name, MONEY)
    table = Table(casino.calls, log, terms)
    await table.open()
    await table.open_round()
    dealt = Dealt(casino, table, case, names)
    refused = await dealt.bet()
    if refused is not None:
        return refused
    await dealt.play()
    await dealt.check(row.get("expected_boxes", [row.get("expected")]))
    return None


async def test_every_case_that_can_be_dealt_is_paid_to_the_unit(
    casino: Casino, log: PostgresEventStore
) -> None:
    places = asyncio.Semaphore(AT_ONCE)

    async def one(row: dict[str, Any]) -> tuple[str, str | None]:
        async with places:
            try:
                return row["id"], await deal(casino, log, row)
            except AssertionError as error:
                raise AssertionError(f"{row['id']} ({row['about']}): {error}") from error

    outcomes = await asyncio.gather(*map(one, SETTLED))
    assert {name: why for name, why in outcomes if why is not None} == CANNOT_BE_DEALT
