from __future__ import annotations

import asyncio
import datetime as dt

from tests.wallet.ledger.world import ORIGIN, ROUND_SETTLED, World, bet, settled
from upcard_wallet.app.adjust import Adjust, adjust
from upcard_wallet.app.balance import Balance
from upcard_wallet.app.deposit import Deposit, deposit
from upcard_wallet.app.jackpots import Contribution, Hit, JackpotFact, Seed, Share, post_jackpots
from upcard_wallet.app.moving import Moved
from upcard_wallet.app.open_account import OpenAccount, open_account
from upcard_wallet.app.purse import AccountRef
from upcard_wallet.app.statement import Statement, StatementLine, statement
from upcard_wallet.app.tip import Tip, tip
from upcard_wallet.app.wallet import Refused
from upcard_wallet.app.withdraw import Withdraw, withdraw
from upcard_wallet.domain.events import Adjusted, BonusCredited, JackpotPosted
from upcard_wallet.domain.ids import pool_stream

ACCOUNT = "p1-EUR"


async def test_an_account_is_opened_once(world: World) -> None:
    command = OpenAccount("a1", "p1", "op1", "EUR", "internal")
    opened = AccountRef("a1", "p1", "op1", "EUR", "internal")
    assert [await world.do(open_account, command) for _ in range(2)] == [opened, opened]
    assert len(await world.events("a1")) == 1
    for other in (
        OpenAccount("a2", "p1", "op1", "EUR", "internal"),  # the player has one in this currency
        OpenAccount("a1", "p2", "op1", "EUR", "internal"),
        OpenAccount("a1", "p1", "op1", "EUR", "seamless"),
    ):
        assert await world.do(open_account, other) == Refused("account_exists")
    assert await world.do(open_account, OpenAccount("a1", "p1", "op1", "eur", "internal")) == Refused(
        "currency_invalid"
    )
    assert await world.do(open_account, OpenAccount("a/1", "p1", "op1", "EUR", "internal")) == Refused(
        "id_invalid"
    )


async def test_accounts_of_several_currencies_are_apart(world: World) -> None:
    for currency, money in (("EUR", 100), ("JPY", 5_000), ("KWD", 1_500)):
        await world.player("p1", money, currency=currency)
    await world.place(bet((1, "ante", 300), currency="JPY"))
    assert await world.has("p1-JPY") == (4_700, 300, 0, 0)
    assert await world.has("p1-EUR") == (100, 0, 0, 0)
    assert await world.books(currency="KWD") == {"cashier": -1_500}
    await world.all_is_explained()


async def test_a_deposit_is_made_once(world: World) -> None:
    await world.player()
    command = Deposit(ACCOUNT, 70, "op1/r1", reference="pay-1")
    first, second = [await world.do(deposit, command) for _ in range(2)]
    assert isinstance(first, Moved)
    assert first == second
    assert first.balance.cash == 70
    assert await world.do(deposit, Deposit(ACCOUNT, 71, "op1/r1")) == Refused("business_key_reused")
    assert len(await world.events()) == 2


async def test_the_same_deposit_from_many_callers_at_once_is_made_once(world: World) -> None:
    await world.player()
    await asyncio.gather(*(world.do(deposit, Deposit(ACCOUNT, 70, "r")) for _ in range(10)))
    assert await world.has() == (70, 0, 0, 0)


async def test_what_cannot_be_paid_in_is_refused(world: World) -> None:
    await world.player("p1")
    await world.player("p2", purse="seamless")
    for command, reason in (
        (Deposit("nobody", 1, "k"), "account_unknown"),
        (Deposit(ACCOUNT, 0, "k"), "amount_invalid"),
        (Deposit(ACCOUNT, 2**53, "k"), "amount_invalid"),
        (Deposit(ACCOUNT, 1, "k", currency="USD"), "currency_differs"),
        (Deposit("p2-EUR", 1, "k"), "purse_is_seamless"),
        (Deposit(ACCOUNT, 1, ""), "business_key_invalid"),
        (Deposit(ACCOUNT, 1, "k", reference="a name"), "reference_invalid"),
    ):
        assert await world.do(deposit, command) == Refused(reason)
    assert await world.has() == (0, 0, 0, 0)


async def test_only_cash_can_be_withdrawn_and_never_more_than_there_is(world: World) -> None:
    await world.player(money=100)
    await world.place(bet((1, "ante", 60)))
    assert await world.do(withdraw, Withdraw(ACCOUNT, 41, "w1")) == Refused("funds_refused")
    answers = await asyncio.gather(
        *(world.do(withdraw, Withdraw(ACCOUNT, 10, f"w{n}")) for n in range(2, 12))
    )
    assert sum(isinstance(one, Moved) for one in answers) == 4
    assert await world.has() == (0, 60, 0, 0)
    await world.all_is_explained()


async def test_an_adjustment_needs_two_people(world: World) -> None:
    await world.player(money=100)

    async def try_(
        amount: int = 5, proposer: str = "staff:a", approver: str = "staff:b", key: str = "k"
    ) -> object:
        return await world.do(
            adjust, Adjust(ACCOUNT, amount, "cash", "house", "goodwill", proposer, approver, key)
        )

    assert await try_(approver="staff:a") == Refused("two_people_needed")
    assert await try_(approver="player:p1") == Refused("two_people_needed")
    assert await try_(amount=0) == Refused("amount_invalid")
    assert await try_(amount=-101) == Refused("funds_refused")
    assert isinstance(await try_(), Moved)
    assert isinstance(await try_(), Moved)
    assert await world.has() == (105, 0, 0, 0)
    told = (await world.events())[-1]
    assert isinstance(told, Adjusted)
    assert (told.proposer, told.approver, told.amount) == ("staff:a", "staff:b", 5)
    assert isinstance(await try_(amount=-105, key="k2"), Moved)
    await world.all_is_explained()


async def test_what_a_player_owes_can_be_written_off(world: World) -> None:
    await world.player(money=10)
    await world.place(bet((1, "ante", 10)))
    await world.hear(("t1.1", settled((1, "ante", 10, 50))), ("t1.1", ROUND_SETTLED))
    await world.do(withdraw, Withdraw(ACCOUNT, 50, "w"))
    await world.hear(("t1.1", settled((1, "ante", 10, 0), revision=2)))
    assert await world.has() == (0, 0, 0, 50)
    people = ("bad_debt", "staff:a", "staff:b")
    assert await world.do(adjust, Adjust(ACCOUNT, 51, "receivable", "house", *people, "k")) == Refused(
        "funds_refused"
    )
    assert isinstance(await world.do(adjust, Adjust(ACCOUNT, 50, "receivable", "house", *people, "k")), Moved)
    # A correction upward has no debt to pay any more.
    await world.hear(("t1.1", settled((1, "ante", 10, 50), revision=3)))
    assert await world.has() == (50, 0, 0, 0)
    await world.all_is_explained()


async def test_a_tip_goes_from_cash_to_the_tips(world: World) -> None:
    await world.player(money=10)
    assert await world.do(tip, Tip(ACCOUNT, 11, "t")) == Refused("funds_refused")
    assert isinstance(await world.do(tip, Tip(ACCOUNT, 4, "t", "table1", "dealer1")), Moved)
    assert await world.has() == (6, 0, 0, 0)
    assert await world.books() == {"cashier": -10, "tips": 4}


async def test_a_jackpot_is_seeded_fed_and_hit(world: World) -> None:
    await world.player("p1")
    await world.player("p2", purse="seamless")
    hit = Hit("j1", "op1", "EUR", (Share("p1", 50), Share("p2", 30)), "t1.1", world.event_id())
    facts: list[JackpotFact] = [
        Seed("j1", "op1", "EUR", 60, world.event_id()),
        Contribution("j1", "op1", "EUR", 7, "t1.1", world.event_id()),
        Contribution("j1", "op1", "EUR", 0, "t1.1", world.event_id()),
        hit,
        Contribution("j1", "op1", "EUR", 5, "t1.2", world.event_id()),
    ]
    for _ in range(2):
        await world.change(lambda connection: post_jackpots(world.wallet, connection, facts, ORIGIN))
    assert await world.has("p1-EUR") == (50, 0, 0, 0)
    # The pool had 67 of the 80: the house added 13.
    assert await world.books() == {"house": -60 - 7 - 13 - 5, "operator": 30}
    assert (
        await world.value(
            "SELECT balance FROM wallet.balances JOIN wallet.books USING (book) WHERE kind = 'jackpot'"
        )
        == 5
    )
    assert [(one.amount, one.kind) for one in world.partner.credits] == [(30, "jackpot")]
    told = (await world.events())[-1]
    assert isinstance(told, BonusCredited)
    assert (told.amount, told.source, told.round) == (50, "j1", "t1.1")
    pool = [one async for one in world._events(pool_stream("j1"))]
    assert [(type(one), one.kind, one.amount, one.house) for one in pool] == [
        (JackpotPosted, "seed", 60, 0),
        (JackpotPosted, "contribution", 7, 0),
        (JackpotPosted, "hit", -67, 13),
        (JackpotPosted, "contribution", 5, 0),
    ]
    await world.all_is_explained()


async def read(world: World, since: dt.datetime, until: dt.datetime, **page: int) -> Statement:
    async with world.pool.acquire() as connection, connection.transaction(isolation="repeatable_read"):
        found = await statement(world.wallet, connection, ACCOUNT, since, until, **page)
    assert isinstance(found, Statement)
    return found


def moved(lines: tuple[StatementLine, ...]) -> list[tuple[str, int, int]]:
    return [(one.kind, one.cash, one.held) for one in lines]


async def test_a_statement_has_opening_lines_and_closing(world: World) -> None:
    await world.player(money=100)
    middle = await world.value("SELECT clock_timestamp()")
    await world.place(bet((1, "ante", 10), (2, "ante", 5)))
    (fact, _) = await world.hear(
        ("t1.1", settled((1, "ante", 10, 30), (2, "ante", 5, 0))), ("t1.1", ROUND_SETTLED)
    )
    await world.do(withdraw, Withdraw(ACCOUNT, 20, "w"))
    end = await world.value("SELECT clock_timestamp()")
    await world.do(deposit, Deposit(ACCOUNT, 1, "after"))

    found = await read(world, middle, end)
    assert (found.opening.cash, found.opening.held) == (100, 0)
    assert (found.closing.cash, found.closing.held) == (95, 0)
    assert moved(found.lines) == [("hold", -15, 15), ("settlement", 30, -15), ("withdrawal", -20, 0)]
    assert found.lines[1].cause_event == fact.event_id
    assert {one.event for one in found.lines} <= {
        row["event_id"] for row in await world.pool.fetch("SELECT event_id FROM eventstore.events")
    }
    first = await read(world, middle, end, limit=2)
    rest = await read(world, middle, end, limit=2, after=first.lines[-1].position)
    assert first.more
    assert not rest.more
    assert first.lines + rest.lines == found.lines

    whole = await read(world, dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.datetime(2100, 1, 1, tzinfo=dt.UTC))
    assert whole.closing == await world.balance()
    assert whole.opening == Balance(whole.opening.account, 0, 0, 0, 0)


async def test_a_statement_of_no_period_is_refused(world: World) -> None:
    await world.player()
    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    async with world.pool.acquire() as connection:
        for account, since, until, reason in (
            (ACCOUNT, now, now - dt.timedelta(1), "period_invalid"),
            (ACCOUNT, now.replace(tzinfo=None), now, "period_invalid"),
            ("nobody", now, now, "account_unknown"),
        ):
            assert await statement(world.wallet, connection, account, since, until) == Refused(reason)
