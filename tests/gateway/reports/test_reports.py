"""Reports over a real wallet and a real history: lines can be traced, sums are those of the wallet."""

from __future__ import annotations

import csv
import datetime as dt
import io
from dataclasses import replace
from typing import Any

import httpx

from tests.gateway.rounds.behind import PARTNER, erased, known_as
from tests.gateway.rounds.test_rounds import pages
from tests.gateway.sessions.behind import refused, told
from tests.gateway.world import World
from tests.history.desk.world import START, money
from tests.history.desk.world import World as Mirror
from tests.wallet.ledger.world import bet, round_resettled, round_settled, settled
from tests.wallet.seamless.world import SeamlessWorld
from upcard_platform.models.reports import OpenRoundList, Reconciliation, Statement, TransactionList

TRANSACTIONS, OPEN = "/v1/reports/transactions", "/v1/reports/open-rounds"
RECONCILIATION = "/v1/reports/reconciliation"


def today(world: World) -> str:
    """The wallet's day; the gateway's clock is put to its noon."""
    now = dt.datetime.now(dt.UTC)
    world.clock.at = now
    return now.date().isoformat()


async def file_of(client: httpx.AsyncClient, path: str, **query: Any) -> list[dict[str, str]]:
    """A file, by the names of its columns."""
    answer = await client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.text.endswith("\r\n")
    assert "attachment" in answer.headers["content-disposition"]
    return list(csv.DictReader(io.StringIO(answer.text)))


async def transfer_life(ledger: SeamlessWorld) -> None:
    """A player of ours: pays in, plays, and has something at stake."""
    await ledger.player("p1", 1_000)
    await ledger.place(bet((1, "ante", 30)), bet((2, "ante", 20), bet_id="b2"))
    result = settled((1, "ante", 30, 80), (2, "ante", 20, 0))
    await ledger.hear(("t1.1", result), ("t1.1", round_settled(result)))
    await ledger.place(bet((1, "ante", 11), (2, "ante", 4), round_name="t1.2", bet_id="b3"))


async def partners_life(ledger: SeamlessWorld) -> None:
    """A player of the partner's: wins, and is corrected downward."""
    await ledger.guest("q1", 1_000, operator=PARTNER)
    await ledger.place(bet((1, "ante", 30), player="q1", round_name="t5.1", bet_id="b5"))
    first = settled((1, "ante", 30, 80), player="q1")
    await ledger.hear(("t5.1", first), ("t5.1", round_settled(first)))
    lower = settled((1, "ante", 30, 50), player="q1", revision=2)
    await ledger.hear(("t5.1", lower), ("t5.1", round_resettled(1, lower)))
    await ledger.quiet()


async def test_transactions_are_traced_to_events_and_calls(
    world: World, casino: httpx.AsyncClient, ledger: SeamlessWorld
) -> None:
    await transfer_life(ledger)
    await partners_life(ledger)
    partner = await world.casino(PARTNER, wallet="seamless")
    await known_as(world, "q1", "quentin", PARTNER)
    day = today(world)
    ours = await pages(casino, TRANSACTIONS, day=day, limit=2)
    assert [(one["kind"], one["player"], one["changes"]["cash"]) for one in ours] == [
        ("deposit", "anna", 1_000),
        ("hold", "anna", -30),
        ("hold", "anna", -20),
        ("settlement", "anna", 80),
        ("hold", "anna", -15),
    ]
    assert len({one["transaction"] for one in ours}) == 5
    recorded = {
        str(row["event_id"]) for row in await ledger.pool.fetch("SELECT event_id FROM eventstore.events")
    }
    assert {one["event"] for one in ours} <= recorded
    assert all(one["calls"] == [] and one["wallet"] == "transfer" for one in ours)
    theirs = await pages(partner, TRANSACTIONS, day=day, limit=2)
    assert [(one["kind"], [(call["kind"], call["amount"]) for call in one["calls"]]) for one in theirs] == [
        ("hold", [("bet", 30)]),
        ("settlement", [("win", 80)]),
        ("correction", [("rollback_of_win", 80), ("win", 50)]),
    ]
    asked = {
        str(one) for one in await ledger.pool.fetchval("SELECT array_agg(call) FROM wallet.partner_calls")
    }
    assert {call["call"] for one in theirs for call in one["calls"]} == asked
    assert {one["player"] for one in theirs} == {"quentin"}
    of_round = await pages(partner, TRANSACTIONS, round="t5.1", limit=2)
    assert of_round == theirs
    assert await pages(casino, TRANSACTIONS, round="t5.1") == []
    TransactionList.model_validate(told(await partner.get(TRANSACTIONS, params={"day": day})))


async def test_the_file_has_the_same_lines(
    world: World, casino: httpx.AsyncClient, ledger: SeamlessWorld
) -> None:
    await transfer_life(ledger)
    day = today(world)
    lines = await pages(casino, TRANSACTIONS, day=day)
    rows = await file_of(casino, f"{TRANSACTIONS}.csv", day=day)
    assert [row["transaction"] for row in rows] == [line["transaction"] for line in lines]
    assert [(row["at"], int(row["cash"])) for row in rows] == [
        (line["at"], line["changes"]["cash"]) for line in lines
    ]
    await erased(world, "p1")
    assert {line["player"] for line in await pages(casino, TRANSACTIONS, day=day)} == {None}
    assert {row["player"] for row in await file_of(casino, f"{TRANSACTIONS}.csv", day=day)} == {""}


async def test_a_day_is_reconciled(world: World, casino: httpx.AsyncClient, ledger: SeamlessWorld) -> None:
    await transfer_life(ledger)
    await partners_life(ledger)
    partner = await world.casino(PARTNER, wallet="seamless")
    day = today(world)
    ours = Reconciliation.model_validate(told(await casino.get(RECONCILIATION, params={"day": day})))
    assert (ours.lines, ours.checked, ours.agrees, ours.differences, ours.final) == (5, True, True, [], False)
    (balance,) = ours.balances
    assert (balance.opening.cash, balance.closing.cash, balance.closing.held) == (0, 1_015, 15)
    has = await ledger.has()
    assert (balance.closing.cash, balance.closing.held) == has[:2], "what the wallet itself says"
    world.clock.move(2 * 86_400)
    theirs = Reconciliation.model_validate(told(await partner.get(RECONCILIATION, params={"day": day})))
    assert (theirs.lines, theirs.agrees, theirs.final) == (3, True, True)
    assert {(one.kind, one.state, one.amount) for one in theirs.calls} == {
        ("bet", "done", 30),
        ("win", "done", 130),
        ("rollback_of_win", "done", 80),
    }
    assert theirs.balances[0].closing.cash == -ledger.servers[PARTNER].owed_to_us("EUR")
    rows = await file_of(partner, f"{RECONCILIATION}.csv", day=day)
    assert (rows[-1]["part"], rows[-1]["state"], rows[-1]["number"]) == ("checked", "agrees", "3")
    assert sum(int(row["cash"]) for row in rows if row["part"] == "total") == theirs.balances[0].closing.cash
    empty = Reconciliation.model_validate(
        told(await casino.get(RECONCILIATION, params={"day": "2026-01-01"}))
    )
    assert (empty.lines, empty.agrees, empty.totals, empty.balances) == (0, True, [], [])


async def test_a_day_that_is_too_long_is_not_said_to_agree(
    world: World, casino: httpx.AsyncClient, ledger: SeamlessWorld
) -> None:
    await transfer_life(ledger)
    few = world.edge.settings.model_copy(update={"report_lines_checked_max": 4})
    world.app.state.edge = replace(world.edge, settings=few)
    found = told(await casino.get(RECONCILIATION, params={"day": today(world)}))
    assert (found["checked"], found["agrees"], found["differences"]) == (False, None, [])
    assert found["totals"]
    rows = await file_of(casino, f"{RECONCILIATION}.csv", day=today(world))
    assert (rows[-1]["part"], rows[-1]["state"]) == ("checked", "not_checked")


class Mistaken:
    """A wallet whose sums are one off."""

    def __init__(self, stub: Any) -> None:
        self._stub = stub

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stub, name)

    async def GetOperatorTotals(self, request: Any, timeout: float) -> Any:  # noqa: ASYNC109, N802 - as stubs have it
        """Sums, one of which is wrong."""
        answer = await self._stub.GetOperatorTotals(request, timeout=timeout)
        answer.totals.totals[0].changes.cash += 1
        return answer


async def test_figures_that_differ_are_named(
    world: World, casino: httpx.AsyncClient, ledger: SeamlessWorld
) -> None:
    await transfer_life(ledger)
    mistaken: Any = Mistaken(world.edge.services.wallet)
    services = replace(world.edge.services, wallet=mistaken)
    world.app.state.edge = replace(world.edge, services=services)
    day = today(world)
    found = Reconciliation.model_validate(told(await casino.get(RECONCILIATION, params={"day": day})))
    assert found.agrees is False
    assert [(one.what, one.about, one.expected, one.found) for one in found.differences] == [
        ("lines_and_totals", "cash of deposit in EUR (transfer)", 1_001, 1_000),
        ("totals_and_balances", "closing cash in EUR (transfer)", 1_015, 1_016),
    ]
    rows = await file_of(casino, f"{RECONCILIATION}.csv", day=day)
    assert [row["part"] for row in rows if row["part"] in {"difference", "checked"}] == ["difference"] * 2 + [
        "checked"
    ]


async def test_open_rounds(world: World, casino: httpx.AsyncClient, ledger: SeamlessWorld) -> None:
    await transfer_life(ledger)
    await ledger.player("p2", 50)
    await ledger.place(bet((3, "ante", 7), player="p2", round_name="t1.2", bet_id="b8"))
    await erased(world, "p2")
    partner = await world.casino(PARTNER, wallet="seamless")
    found = await pages(casino, OPEN, limit=1)
    assert [
        (one["round"], one["player"], one["player_ref"], one["wagers"], one["held"]) for one in found
    ] == [
        ("t1.2", "anna", "p1", 2, 15),
        ("t1.2", None, "p2", 1, 7),
    ]
    rows = await file_of(casino, f"{OPEN}.csv")
    assert [(row["player"], row["held"]) for row in rows] == [("anna", "15"), ("", "7")]
    assert await pages(partner, OPEN) == []
    OpenRoundList.model_validate(told(await casino.get(OPEN)))


async def test_a_players_statement(casino: httpx.AsyncClient, mirror: Mirror) -> None:
    await mirror.account(
        "p1",
        ("Deposited", 5, money(100)),
        ("Deposited", 6, money(50)),
        ("Withdrawn", 7, money(30)),
    )
    await mirror.apply()
    path = "/v1/players/anna/statement"
    whole: dict[str, Any] = {
        "currency": "EUR",
        "since": START.isoformat(),
        "until": (START + dt.timedelta(seconds=60)).isoformat(),
    }
    made = Statement.model_validate(told(await casino.get(path, params=whole)))
    assert (made.player, made.account, made.wallet) == ("anna", "p1-EUR", "transfer")
    assert (made.opening.cash, made.closing.cash) == (0, 120)
    assert [(line.kind, line.cash, line.balance.cash) for line in made.items] == [
        ("deposit", 100, 100),
        ("deposit", 50, 150),
        ("withdrawal", -30, 120),
    ]
    assert [one["kind"] for one in await pages(casino, path, limit=1, **whole)] == [
        "deposit",
        "deposit",
        "withdrawal",
    ]
    later = whole | {"since": (START + dt.timedelta(seconds=6)).isoformat()}
    assert told(await casino.get(path, params=later))["opening"]["cash"] == 100
    rows = await file_of(casino, f"{path}.csv", **whole)
    assert [(row["kind"], row["cash"], row["cash_after"]) for row in rows] == [
        ("deposit", "100", "100"),
        ("deposit", "50", "150"),
        ("withdrawal", "-30", "120"),
    ]
    assert refused(await casino.get(path, params=whole | {"currency": "GBP"})) == (404, "account_unknown")
    assert refused(await casino.get("/v1/players/carl/statement", params=whole)) == (404, "player_unknown")
    assert refused(await casino.get(f"{path}.csv", params=whole | {"currency": "GBP"})) == (
        404,
        "account_unknown",
    )


NOW, LATER = "2026-11-30T00:00:00Z", "2026-11-30T01:00:00Z"


WRONG: list[tuple[str, dict[str, Any], str]] = [
    (TRANSACTIONS, {}, "period_invalid"),
    (TRANSACTIONS, {"since": NOW}, "period_invalid"),
    (TRANSACTIONS, {"since": LATER, "until": NOW}, "period_invalid"),
    (TRANSACTIONS, {"since": NOW, "until": NOW}, "period_invalid"),
    (TRANSACTIONS, {"since": "2026-01-01T00:00:00Z", "until": LATER}, "period_invalid"),
    (TRANSACTIONS, {"since": "0001-01-01T00:00:00+14:00", "until": LATER}, "period_invalid"),
    (TRANSACTIONS, {"day": "9999-12-31"}, "period_invalid"),
    (TRANSACTIONS, {"day": "2026-11-30", "since": NOW}, "period_invalid"),
    (TRANSACTIONS, {"since": "2026-11-30T00:00:00", "until": LATER}, "request_invalid"),
    (TRANSACTIONS, {"day": "2026-02-30"}, "request_invalid"),
    (TRANSACTIONS, {"day": "2026-11-30", "limit": 201}, "request_invalid"),
    (TRANSACTIONS, {"day": "2026-11-30", "after": "eA"}, "cursor_invalid"),
    (TRANSACTIONS, {"day": "2026-11-30", "round": "x"}, "request_invalid"),
    (f"{TRANSACTIONS}.csv", {}, "period_invalid"),
    (RECONCILIATION, {}, "request_invalid"),
    (RECONCILIATION, {"day": "1999-12-31"}, "period_invalid"),
    (OPEN, {"after": "eA"}, "cursor_invalid"),
    ("/v1/players/anna/statement", {"currency": "EUR"}, "period_invalid"),
    ("/v1/players/anna/statement", {"since": NOW, "until": LATER}, "request_invalid"),
]


async def test_what_cannot_be_reported(casino: httpx.AsyncClient, wallet: object, mirror: Mirror) -> None:
    assert wallet
    assert mirror.rounds == {}
    for path, query, code in WRONG:
        assert refused(await casino.get(path, params=query)) == (400, code), (path, query)
