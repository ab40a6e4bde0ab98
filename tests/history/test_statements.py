"""Statements made of the wallet's events, compared with the wallet's own ledger."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import asyncpg
import pytest

from rules_core.round.codec import PayloadError
from tests.history.world import World
from tests.wallet.ledger.test_random_lives import PLAYERS, Life
from tests.wallet.ledger.world import ORIGIN, ROUND_SETTLED, bet, settled
from tests.wallet.ledger.world import World as WalletWorld
from upcard_history.app.reading import AccountBalance, Statement
from upcard_history.domain.account_changes import VERSIONS, Moved, Opened, account_change
from upcard_wallet.app.adjust import Adjust, adjust
from upcard_wallet.app.free_bets import Expired, Granted, post_free_bets
from upcard_wallet.app.recording import decode
from upcard_wallet.app.statement import statement
from upcard_wallet.app.tip import Tip, tip
from upcard_wallet.app.wallet import Refused
from upcard_wallet.domain.auditing import expected_of
from upcard_wallet.domain.events import EVENT_TYPES as WALLET_EVENTS
from upcard_wallet.migrations import prepare_wallet

BEGINNING = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
END = dt.datetime(2100, 1, 1, tzinfo=dt.UTC)
PAYLOADS = Path(__file__).parents[1] / "golden" / "wallet_payloads"
ID = "00000000-0000-0000-0000-000000000001"


@pytest.fixture
async def wallet(world: World, database: str, service_role: str) -> WalletWorld:
    """A wallet whose log is the very one that history reads: as if it had been mirrored."""
    connection = await asyncpg.connect(database)
    try:
        await prepare_wallet(connection, service_role=service_role)
    finally:
        await connection.close()
    return WalletWorld(world.pool, world.store)


async def statement_of(world: World, account: str) -> Statement:
    await world.catch_up()
    found = await world.history.statement(account, BEGINNING, END)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_statement_agrees_with_the_ledger_line_by_line(
    world: World, wallet: WalletWorld, seed: int
) -> None:
    for player in PLAYERS:
        await wallet.player(player)
    life, lines = Life(wallet, seed), 0
    for _ in range(60):
        await life.step()
    for player in PLAYERS:
        found = await statement_of(world, f"{player}-EUR")
        has = AccountBalance(
            life.model.cash[player], sum(life.model.held[player].values()), life.model.owed[player]
        )
        assert found.closing == has
        assert found.opening == AccountBalance(0, 0, 0)
        async with world.pool.acquire() as connection:
            ledger = await statement(wallet.wallet, connection, f"{player}-EUR", BEGINNING, END)
        assert not isinstance(ledger, Refused)
        theirs = {(str(one.transaction), one.cash, one.held, one.owed) for one in ledger.lines}
        assert {(one.transaction, one.cash, one.held, one.owed) for one in found.lines} == theirs
        assert len(found.lines) == len(ledger.lines)
        lines += len(found.lines)
    assert lines > 10


async def test_every_kind_of_line_is_there(world: World, wallet: WalletWorld) -> None:
    await wallet.player(money=1_000)
    await wallet.do(tip, Tip("p1-EUR", 30, "tip-1", "t1", "d1"))
    command = Adjust("p1-EUR", -50, "cash", "house", "goodwill", "staff:a", "staff:b", "adjust-1")
    await wallet.do(adjust, command)
    granted = Granted("f1", "p1", "EUR", 25, wallet.event_id())
    await wallet.change(lambda connection: post_free_bets(wallet.wallet, connection, [granted], ORIGIN))
    await wallet.place(bet((1, "ante", 10, "f1"), (1, "bet", 20)))
    await wallet.hear(
        ("t1.1", settled((1, "ante", 10, 30, "f1"), (1, "bet", 20, 40))), ("t1.1", ROUND_SETTLED)
    )
    gone = Expired("f1", wallet.event_id())
    await wallet.change(lambda connection: post_free_bets(wallet.wallet, connection, [gone], ORIGIN))
    found = await statement_of(world, "p1-EUR")
    assert [line.kind for line in found.lines] == [
        "deposit",
        "tip",
        "adjustment",
        "free_bet",
        "hold",
        "settlement",
        "free_bet",
    ]
    assert [(line.cash, line.held, line.promo) for line in found.lines] == [
        (1_000, 0, 0),
        (-30, 0, 0),
        (-50, 0, 0),
        (0, 0, 25),
        (-20, 30, 0),
        (60, -30, 0),
        (0, 0, -15),
    ]
    balance = await wallet.balance()
    assert found.closing == AccountBalance(balance.cash, balance.held, balance.owed)
    assert [line.after.cash for line in found.lines] == [1_000, 970, 920, 920, 900, 960, 960]
    (account,) = await world.history.accounts("p1")
    assert (account, account.operator, account.currency) == (found.account, "op1", "EUR")


async def tell_lines(world: World, *times: str) -> None:
    """Deposits of 1, 2, 3, … at these seconds of noon."""
    opened = {"account": "a1", "player": "p1", "operator": "op1", "currency": "EUR", "purse": "internal"}
    await world.tell("account-a1", "AccountOpened", "2026-01-01T11:00:00.000000Z", opened)
    for amount, second in enumerate(times, 1):
        paid = {"transaction": ID, "amount": amount}
        await world.tell("account-a1", "Deposited", f"2026-01-01T12:00:{second}.000000Z", paid)
    await world.catch_up(page=2)


def at(second: int) -> dt.datetime:
    return dt.datetime(2026, 1, 1, 12, 0, second, tzinfo=dt.UTC)


async def test_opening_and_changes_are_closing_in_every_period(world: World) -> None:
    """Also where an instance of the wallet had a clock that went behind."""
    await tell_lines(world, "01", "03", "02", "05", "05", "04", "09")
    for since in range(11):
        for until in range(since, 11):
            found = await world.history.statement("a1", at(since), at(until))
            assert found is not None
            assert found.opening.cash + sum(line.cash for line in found.lines) == found.closing.cash
            assert [line.position for line in found.lines] == sorted(line.position for line in found.lines)
    times = [line.at.second for line in (await statement_of(world, "a1")).lines]
    assert times == [1, 3, 3, 5, 5, 5, 9]


async def test_pages_leave_nothing_out(world: World) -> None:
    await tell_lines(world, *["01"] * 7)
    amounts: list[int] = []
    after: int | None = 0
    while after is not None:
        found = await world.history.statement("a1", BEGINNING, END, after=after, limit=3)
        assert found is not None
        amounts += [line.cash for line in found.lines]
        after = found.next
    assert amounts == [1, 2, 3, 4, 5, 6, 7]
    assert await world.history.statement("nobody", BEGINNING, END) is None
    assert await world.history.accounts("nobody") == ()


@pytest.mark.parametrize(
    ("name", "payload", "field"),
    [
        ("Deposited", {"transaction": ID, "amount": "5"}, "Deposited.amount"),
        ("Deposited", {"transaction": "x", "amount": 5}, "Deposited.transaction"),
        ("HoldPlaced", {"transaction": ID, "round": "t1.1", "holds": [{}]}, "HoldPlaced.holds[0].amount"),
        ("HoldPlaced", {"transaction": ID, "round": "t1.1", "holds": 5}, "HoldPlaced.holds"),
        ("AccountOpened", {"player": ""}, "AccountOpened.player"),
    ],
)
def test_a_payload_that_is_not_of_its_form_says_where(
    name: str, payload: dict[str, object], field: str
) -> None:
    with pytest.raises(PayloadError) as refused:
        account_change(name, payload)
    assert refused.value.path == field


def test_every_event_of_the_wallet_is_known_in_its_version() -> None:
    assert dict(VERSIONS) == {name: version for name, (version, _) in WALLET_EVENTS.items()}


@pytest.mark.parametrize("name", sorted(path.name.partition(".")[0] for path in PAYLOADS.glob("*.jsonl")))
def test_a_line_says_what_the_wallets_audit_expects_of_the_ledger(name: str) -> None:
    """Whatever payload of the wallet was ever committed: both read the same changes from it."""
    for line in (PAYLOADS / f"{name}.v1.jsonl").read_text().splitlines():
        payload = json.loads(line)
        change = account_change(name, payload)
        told = expected_of(decode(name, 1, payload))
        if not isinstance(change, Moved):
            assert told is None or name == "JackpotPosted"
            continue
        assert told is not None
        transaction, books = told
        assert str(change.transaction) == transaction
        assert change.owed == -books.get("player_receivable", 0)
        assert change.promo == books.get("player_promo", 0)
        if "cash" in books:
            assert change.cash == books["cash"]
        if "player_held" in books:
            assert change.held == books["player_held"]


def test_what_moves_no_money_is_no_line() -> None:
    assert account_change("HoldRequested", {}) is None
    assert account_change("HoldReleased", {"transaction": None}) is None
    opened = account_change(
        "AccountOpened", {"player": "p", "operator": "o", "currency": "EUR", "purse": "internal", "more": 1}
    )
    assert opened == Opened("p", "o", "EUR", "internal")
    written_off = account_change(
        "Adjusted",
        {"transaction": ID, "book": "receivable", "amount": 40, "against": "house", "reason": "bad_debt"},
    )
    assert isinstance(written_off, Moved)
    assert (written_off.cash, written_off.owed) == (0, -40)
