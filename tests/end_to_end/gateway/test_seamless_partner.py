"""A partner's wallet over real processes: its book and ours agree, also when it was away in a round."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import asyncpg
import pytest
import pytest_asyncio

from tests.end_to_end.gateway.dealing import ANTE, ScriptedTable, ante
from tests.end_to_end.gateway.processes import CURRENCY, SEAMLESS, TRANSFER, Edge, fresh, until
from upcard_conformance.reference.book import Known
from upcard_platform.client import OneRound, Platform
from upcard_platform.models.reports import Reconciliation, Transaction
from upcard_platform.models.wallets import Deposit

pytestmark = pytest.mark.asyncio(loop_scope="module")

OWNED = 10_000
BLIND_NET = 2 * ANTE
"""Box 1 for its player: the ante back, the bet at 1:1."""
WHOLE_NET = 6 * ANTE
"""Boxes 1 and 2: as before, and the ante back, the bet at 2:1."""


@dataclass
class Played:
    """A round with the partner there, one with it killed after the betting, one without it."""

    edge: Edge
    table: ScriptedTable
    partners: str
    """Our id of the partner's player."""
    others: str
    """Our id of the other operator's player."""
    began: dt.datetime
    said: dict[str, list[str]] = field(default_factory=dict)
    """What was said to bets and choices, by who and when."""
    rounds: list[str] = field(default_factory=list)
    balance_while_away: int | None = None

    def note(self, key: str, outcome: str) -> None:
        """Keep what was said."""
        self.said.setdefault(key, []).append(outcome)

    @property
    def platform(self) -> Platform:
        """The partner's own."""
        return self.edge.platforms[SEAMLESS]

    async def play(self, *, killed: bool = False, away: bool = False) -> None:
        """A round of both players."""
        table, partner = self.table, self.edge.partner
        when = "killed" if killed else "away" if away else "there"

        async def betting(number: int) -> None:
            self.note(f"others {when}", await table.bet(number, self.others, ante(1), ante(2)))
            self.note(f"partners {when}", await table.bet(number, self.partners, ante(1), ante(2)))
            if away:
                self.note(f"partners {when}", await table.bet(number, self.partners, ante(3)))

        async def options(number: int) -> None:
            if killed:
                await asyncio.to_thread(partner.kill)
            self.note(f"others {when}", await table.choose_bet(number, self.others, 2))
            if not away:
                self.note(f"partners {when}", await table.choose_bet(number, self.partners, 2))

        number = await table.play({"betting": betting, "options": options})
        self.rounds.append(f"{table.table.table}.{number}")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def played(edge: Edge) -> AsyncIterator[Played]:
    began = dt.datetime.now(dt.UTC)
    partners = await edge.launched(SEAMLESS, "p1")
    others = await edge.launched(TRANSFER, "p1")
    assert partners.player_ref != others.player_ref, "the same id with two operators is two players"
    await asyncio.to_thread(edge.partner.give, partners.player_ref, CURRENCY, OWNED)
    await edge.platforms[TRANSFER].wallets.deposit(
        "p1", Deposit(request_id=fresh(), currency=CURRENCY, amount=OWNED)
    )
    table = ScriptedTable(edge.casino, "t-partner")
    await table.open()
    all_of_it = Played(edge, table, partners.player_ref, others.player_ref, began)
    await all_of_it.play()
    await all_of_it.play(killed=True)
    await all_of_it.play(away=True)
    all_of_it.balance_while_away = edge.partner.balance(partners.player_ref, CURRENCY)
    await asyncio.to_thread(edge.partner.start)
    yield all_of_it


async def test_while_the_partner_is_there_everything_is_accepted(played: Played) -> None:
    assert played.said["partners there"] == ["accepted", "accepted"]


async def test_new_bets_are_refused_with_a_clear_reason_while_it_is_away(played: Played) -> None:
    assert played.said["partners away"] == ["wallet_unavailable", "wallet_unavailable"]
    connection = await asyncpg.connect(played.edge.fleet.admin_dsn("wallet"))
    try:
        query = "SELECT reason, wager FROM wallet.holds WHERE round = $1 AND player = $2"
        rows = await connection.fetch(query, played.rounds[2], played.partners)
    finally:
        await connection.close()
    assert {row["wager"] for row in rows} == {"ante", "bet"}
    assert "partner_unavailable" in {row["reason"] for row in rows}, (
        "the circuit is open: nobody waits for it"
    )


async def test_the_other_operator_is_not_concerned(played: Played) -> None:
    for when in ("there", "killed", "away"):
        assert played.said[f"others {when}"] == ["accepted", "accepted"]

    async def cash() -> int:
        (balance,) = (await played.edge.platforms[TRANSFER].wallets.balances("p1")).items
        return balance.cash - balance.held

    await until("the settled balance", cash, lambda found: found == OWNED + 3 * WHOLE_NET)


async def test_a_running_round_ends_by_the_rules(played: Played) -> None:
    assert played.said["partners killed"][0] == "accepted"
    assert played.said["partners killed"][1] == "wallet_unavailable"
    name = played.rounds[1]

    async def settled() -> list[str]:
        found = await played.platform.rounds.of_player("p1")
        return [one.round for one in found.items if one.state == "settled"]

    await until("the round in history", settled, lambda found: name in found)
    detail = await played.platform.rounds.detail("p1", name)
    blind, opened = sorted(detail.boxes, key=lambda one: one.box)
    assert (blind.outcome, blind.net) == ("win", BLIND_NET)
    assert (opened.folded, opened.net) == (True, -ANTE), "the bet had no money"
    assert detail.net == BLIND_NET - ANTE


async def test_all_wins_arrive_once_it_is_back(played: Played) -> None:
    assert played.balance_while_away == OWNED + WHOLE_NET - 4 * ANTE, "taken before it was killed"

    async def balance() -> int | None:
        return await asyncio.to_thread(played.edge.partner.balance, played.partners, CURRENCY)

    due = OWNED + WHOLE_NET + BLIND_NET - ANTE
    await until("the wins", balance, lambda found: found == due)


async def test_our_report_is_the_partners_own_book(played: Played) -> None:
    def whole(found: list[Transaction]) -> bool:
        calls = [call for line in found for call in line.calls]
        return bool(calls) and all(call.state == "done" for call in calls)

    lines: list[Transaction] = []
    for name in played.rounds[:2]:

        async def of_round(name: str = name) -> list[Transaction]:
            return (await played.platform.reports.transactions(OneRound(name))).items

        found = await until(f"every call of {name} is done", of_round, whole)
        lines += found
    ours = {transaction for line in lines for call in line.calls for transaction in call.transactions}
    movements = await asyncio.to_thread(played.edge.partner.movements)
    done = [one for one in movements if one.state == "done"]
    assert ours == {one.id for one in done}
    assert sum(line.changes.cash + line.changes.held for line in lines) == sum(map(signed, done))
    assert {one.player for one in done} == {played.partners}


async def test_the_day_agrees_with_the_partners_book(played: Played) -> None:
    async def day() -> Reconciliation:
        return await played.platform.reports.reconciliation(played.began.date())

    def right(found: Reconciliation) -> bool:
        return bool(found.agrees) and {one.state for one in found.calls} <= {"done", "refused"}

    found = await until("a day that agrees", day, right)
    assert found.differences == []
    movements = await asyncio.to_thread(played.edge.partner.movements)
    for kind in ("bet", "win"):
        ours = sum(one.amount for one in found.calls if one.kind == kind and one.state == "done")
        theirs = sum(one.amount for one in movements if one.kind == kind and one.state == "done")
        assert ours == theirs, kind
    (have,) = [one for one in found.balances if one.currency == CURRENCY]
    assert have.closing.cash == sum(signed(one) for one in movements if one.state == "done")


def signed(movement: Known) -> int:
    """What a movement did to the player's money."""
    return -movement.amount if movement.kind == "bet" else movement.amount
