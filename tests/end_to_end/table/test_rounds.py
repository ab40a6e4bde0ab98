"""A full round of each ruleset: calls over gRPC, a shoe reader's cards, money that hears of it over Kafka."""

from __future__ import annotations

import pytest

from eventstore.postgres import PostgresEventStore
from rules_core.engine import ENGINE
from rules_core.log.bundle import Bundle, bundle_bytes, recorded, stream_part
from rules_core.log.verify import verify_bundle
from rules_core.rulesets.parse import ruleset_object
from rules_core.rulesets.shipped import shipped
from servicekit.grpc import acting_as
from tests.end_to_end.table.crowd import Crowd
from tests.end_to_end.table.play import (
    Table,
    Terms,
    ante,
    bet_item,
    cards,
    deposit,
    fresh,
    open_account,
    player,
    until_balance,
)
from tests.end_to_end.table.processes import FLOOR, PLATFORM, Casino
from tests.wallet.edges.processes import in_thread
from upcard.table.v1 import table_pb2 as pb

pytestmark = pytest.mark.asyncio(loop_scope="module")

RULESETS = ("live-shared@1", "dark-boxes@1", "classic@1", "three-box@1", "four-box@1")
MONEY = 1_000_000


async def players(casino: Casino, count: int, amount: int = MONEY) -> tuple[str, ...]:
    """Players with money."""
    names = tuple(f"p{fresh()[:10]}" for _ in range(count))
    for name in names:
        await open_account(casino.calls, name, amount)
    return names


async def agreed(table: Table, log: PostgresEventStore) -> None:
    """The round can be verified from its events alone."""
    contents = [page async for page in log.iterate_contents(f"round-{table.round_name}")]
    flat = [recorded(content) for page in contents for content in page]
    part = stream_part(f"round-{table.round_name}", flat)
    ruleset = ruleset_object(shipped(table.terms.ruleset))
    report = verify_bundle(bundle_bytes(Bundle(None, ENGINE, ruleset, part)))
    assert report.exit_code == 0, report.sentences()


async def everyone_has(casino: Casino, table: Table, names: tuple[str, ...], start: int) -> None:
    """Each player's money is what the round's stream says."""
    settled = table.settled()
    for name in names:
        net = settled[name].net if name in settled and table.state.step == "settled" else 0
        await until_balance(casino.calls, name, start + net)


@pytest.mark.parametrize("reserve", [False, True], ids=["holds as they come", "bets reserved"])
@pytest.mark.parametrize("ruleset", RULESETS)
async def test_a_round_is_played_to_the_balances(
    casino: Casino, log: PostgresEventStore, ruleset: str, *, reserve: bool
) -> None:
    names = await players(casino, 3)
    table = Table(casino.calls, log, Terms(ruleset, betting_ms=1_500, window_ms=1_500, reserve=reserve))
    await table.open()
    await table.open_round()
    crowd = Crowd(table, names, seed=len(ruleset) + reserve)
    await crowd.play()
    assert table.state.step == "settled"
    assert table.settled(), "somebody played"
    accepted = [one for one in crowd.outcomes if one.WhichOneof("result") == "accepted"]
    assert len(accepted) == len(crowd.outcomes), [one for one in crowd.outcomes if one not in accepted]
    await everyone_has(casino, table, names, MONEY)
    await agreed(table, log)


async def test_two_rounds_and_a_rebet(casino: Casino, log: PostgresEventStore) -> None:
    (name,) = await players(casino, 1)
    table = Table(casino.calls, log, Terms("live-shared@1", betting_ms=700, window_ms=150))
    await table.open()
    await table.open_round()
    (placed,) = await table.bet(player(name), [bet_item(ante(1, 100, blind=True), ante(2, 50))])
    assert placed.accepted.round == 1, placed
    await table.deal(lambda _: None)
    while not table.over():
        await table.deal(lambda _: None)
    await everyone_has(casino, table, (name,), MONEY)
    first = table.settled()[name].net
    await table.open_round()

    with acting_as(player(name)):
        again = await casino.calls.table.RebetBets(
            pb.RebetBetsRequest(
                request_id=fresh(),
                table=table.name,
                items=[pb.RebetBetsItem(currency="EUR", bet_id=fresh())],
            ),
            timeout=15,
        )
    wagers = {(one.box, one.wager, one.amount) for one in again.items[0].accepted.wagers}
    assert wagers == {(1, "ante", 100), (1, "bet", 200), (2, "ante", 50)}, again
    while not table.over():
        await table.deal(lambda _: None)
    await everyone_has(casino, table, (name,), MONEY + first)


async def test_a_batch_of_a_platform_has_an_outcome_for_each(casino: Casino, log: PostgresEventStore) -> None:
    rich = await players(casino, 8)
    (poor,) = await players(casino, 1, 0)
    table = Table(casino.calls, log, Terms("live-shared@1", betting_ms=2_500, window_ms=100))
    await table.open()
    await table.open_round()
    items = [bet_item(ante(2, 100), who=name) for name in (*rich, poor)]
    request_id = fresh()
    outcomes = await table.bet(PLATFORM, items, request_id=request_id)
    assert [one.WhichOneof("result") for one in outcomes] == ["accepted"] * 8 + ["declined"], outcomes
    assert outcomes[-1].declined.reason == "funds_refused"
    assert list(await table.bet(PLATFORM, items, request_id=request_id)) == list(outcomes), "kept"
    assert list(await table.bet(PLATFORM, items)) == list(outcomes), "each bet is known by its id"
    await deposit(casino.calls, poor, 100)
    (late,) = await table.bet(PLATFORM, [bet_item(ante(2, 100), who=poor)])
    assert late.WhichOneof("result") == "accepted", late
    while not table.over():
        await table.deal(lambda _: None)
    assert len(table.settled()) == 9
    await everyone_has(casino, table, rich, MONEY)
    await agreed(table, log)


async def test_a_cancelled_round_gives_everything_back(casino: Casino, log: PostgresEventStore) -> None:
    (name,) = await players(casino, 1)
    table = Table(casino.calls, log, Terms("three-box@1", betting_ms=400))
    await table.open()
    await table.open_round()
    (placed,) = await table.bet(player(name), [bet_item(ante(1, 100), ante(2, 100))])
    assert placed.accepted.wagers, placed
    await table.until("the deal", lambda: table.step == "lay_card")
    answer = await table.scan(cards(["As"])[0])
    assert answer.HasField("laid"), answer

    with acting_as(FLOOR):
        cancelled = await casino.calls.table.CancelRound(
            pb.CancelRoundRequest(request_id=fresh(), table=table.name, round=1, reason="dealer_mistake"),
            timeout=15,
        )
    assert cancelled.changed.round == 1, cancelled
    await table.look()
    assert table.state.step == "cancelled"
    await until_balance(casino.calls, name, MONEY)
    await agreed(table, log)


async def test_it_is_ready_and_shows_metrics(casino: Casino) -> None:
    def asked() -> tuple[tuple[int, str], str]:
        return casino.table.ask("/health/ready"), casino.table.ask("/metrics")[1]

    (status, body), shown = await in_thread(asked)
    assert status == 200, body
    for name in (
        "upcard_table_works_total",
        "upcard_table_window_late_seconds",
        "upcard_table_waiting_for_floor",
        "upcard_table_owned_tables",
        "upcard_table_hold_answer_seconds",
        "upcard_relay_lag_events",
        "upcard_table_watchers",
        "upcard_grpc_server_calls_total",
    ):
        assert f"# HELP {name} " in shown, name
