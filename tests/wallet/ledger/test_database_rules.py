"""What the database refuses by itself, whoever asks."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import AsyncIterator
from typing import TypeAlias, get_args

import asyncpg
import pytest

from tests.wallet.ledger.world import World, bet
from upcard_wallet.domain.holds import FOLLOWING, HoldState

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


@pytest.fixture
async def owner(database: str, world: World) -> AsyncIterator[Connection]:
    """The owner of the tables: what holds for it holds for everybody. Two players have 100 each."""
    await world.player("p1", 100)
    await world.player("p2", 100)
    connection = await asyncpg.connect(database)
    yield connection
    await connection.close()


async def book_of(connection: Connection, kind: str, owner: str = "p1-EUR") -> int:
    book: int = await connection.fetchval(
        "SELECT book FROM wallet.books WHERE kind = $1 AND owner = $2", kind, owner
    )
    return book


async def new_transaction(connection: Connection) -> uuid.UUID:
    transaction = uuid.uuid4()
    await connection.execute(
        "INSERT INTO wallet.transactions (transaction, kind, business_key, event)"
        " VALUES ($1, 'test', $2, $1)",
        transaction,
        str(transaction),
    )
    return transaction


POST = (
    "INSERT INTO wallet.postings (transaction, book, currency, amount)"
    " SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[])"
)


async def post(
    connection: Connection, transaction: uuid.UUID, *postings: tuple[int, int], currency: str = "EUR"
) -> None:
    books, amounts = zip(*postings, strict=True)
    await connection.execute(POST, [transaction] * len(books), books, [currency] * len(books), amounts)


async def in_one(connection: Connection, *postings: tuple[int, int]) -> None:
    """A transaction and its postings, in one transaction of the database."""
    async with connection.transaction():
        await post(connection, await new_transaction(connection), *postings)


async def twice_in_one(connection: Connection, *postings: tuple[int, int]) -> None:
    """Postings for the same transaction twice."""
    async with connection.transaction():
        transaction = await new_transaction(connection)
        await post(connection, transaction, *postings)
        await post(connection, transaction, *postings)


async def test_postings_that_do_not_sum_to_zero(owner: Connection) -> None:
    cash, house = await book_of(owner, "player_cash"), await book_of(owner, "house", "op1")
    transaction = await new_transaction(owner)
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="sum to"):
        await in_one(owner, (cash, 5), (house, -4))
    # Two that are wrong by the opposite, in one statement.
    one, other = await new_transaction(owner), transaction
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="sum to"):
        await owner.execute(POST, [one, other], [cash, house], ["EUR", "EUR"], [5, -5])


async def test_currencies_are_summed_apart_and_are_those_of_the_books(
    owner: Connection, world: World
) -> None:
    await world.player("p1", 100, currency="JPY")
    cash, yen = await book_of(owner, "player_cash"), await book_of(owner, "player_cash", "p1-JPY")
    for currencies, message in ((["EUR", "JPY"], "sum to"), (["EUR", "EUR"], "no book")):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match=message):
            await of_currencies(owner, (cash, yen), currencies)


async def of_currencies(connection: Connection, books: tuple[int, int], currencies: list[str]) -> None:
    async with connection.transaction():
        transaction = await new_transaction(connection)
        await connection.execute(POST, [transaction] * 2, books, currencies, [5, -5])


async def test_a_transaction_takes_its_postings_once_and_with_it(owner: Connection) -> None:
    cash, house = await book_of(owner, "player_cash"), await book_of(owner, "house", "op1")
    earlier = await new_transaction(owner)  # committed without postings
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="not a new one"):
        await post(owner, earlier, (cash, 5), (house, -5))
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="not a new one"):
        await post(owner, uuid.uuid4(), (cash, 5), (house, -5))
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="not a new one"):
        await twice_in_one(owner, (cash, 5), (house, -5))


async def test_a_balance_below_zero(owner: Connection) -> None:
    house = await book_of(owner, "house", "op1")
    for kind, amount in (
        ("player_cash", -101),
        ("player_held", -1),
        ("player_receivable", 1),
    ):
        book = await book_of(owner, kind)
        with pytest.raises(asyncpg.CheckViolationError):
            await in_one(owner, (book, amount), (house, -amount))


async def test_an_amount_of_nothing(owner: Connection) -> None:
    cash = await book_of(owner, "player_cash")
    with pytest.raises(asyncpg.CheckViolationError):
        await in_one(owner, (cash, 0))


@pytest.mark.parametrize("table", ["transactions", "postings", "books", "accounts", "settlements", "rounds"])
async def test_nothing_posted_is_changed_or_removed(owner: Connection, table: str) -> None:
    column = {"transactions": "kind", "postings": "currency", "settlements": "player", "rounds": "round"}.get(
        table, "currency"
    )
    for statement in (
        f"UPDATE wallet.{table} SET {column} = {column}",  # noqa: S608 - names of this test
        f"DELETE FROM wallet.{table}",  # noqa: S608 - likewise
        f"TRUNCATE wallet.{table} CASCADE",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match=r"never changed|never removed"):
            await owner.execute(statement)


async def test_holds_are_not_removed(owner: Connection) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await owner.execute("DELETE FROM wallet.holds")


async def test_a_hold_takes_only_the_states_that_may_follow(owner: Connection) -> None:
    states: tuple[HoldState, ...] = get_args(HoldState)
    for before, after in itertools.product(states, repeat=2):
        rolled_back = owner.transaction()
        await rolled_back.start()
        await change_state(owner, before, after)
        await rolled_back.rollback()


async def change_state(owner: Connection, before: HoldState, after: HoldState) -> None:
    await owner.execute(
        "INSERT INTO wallet.holds (hold, round, player, account, bet_id, box, wager, amount, state, reason)"
        " VALUES (gen_random_uuid(), 't1.1', 'p1', 'p1-EUR', 'b1', 1, 'ante', 5, $1, 'x')",
        before,
    )
    if after in FOLLOWING[before]:
        await owner.execute("UPDATE wallet.holds SET state = $1", after)
        return
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="cannot become"):
        await owner.execute("UPDATE wallet.holds SET state = $1", after)


async def test_what_a_hold_is_for_never_changes(owner: Connection, world: World) -> None:
    await world.place(bet((1, "ante", 5)))
    for change in ("amount = 6", "account = 'p2-EUR'", "funding = 'f'", "round = 't1.2'"):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError):
            await owner.execute(f"UPDATE wallet.holds SET state = 'released', {change}")  # noqa: S608 - of this test


async def test_the_service_writes_no_balance_and_changes_no_posting(owner: Connection, world: World) -> None:
    assert await owner.fetchval("SELECT count(*) FROM wallet.postings") == 4
    for statement in (
        "UPDATE wallet.balances SET balance = 1000",
        "INSERT INTO wallet.balances (book, balance) VALUES (1, 5)",
        "UPDATE wallet.postings SET amount = 5",
        "DELETE FROM wallet.transactions",
        "UPDATE wallet.holds SET amount = 5",
        "INSERT INTO wallet.book_totals (book) VALUES (1)",
        "DELETE FROM wallet.book_changes",
        "UPDATE wallet.accounts SET purse = 'seamless'",
        "ALTER TABLE wallet.postings DISABLE TRIGGER balanced",
        "SELECT wallet.grant_service('postgres')",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await world.pool.execute(statement)


async def test_replicas_role_does_not_switch_the_rules_off(owner: Connection) -> None:
    triggers = await owner.fetch(
        "SELECT tgrelid::regclass::text AS name, tgname FROM pg_trigger"
        " WHERE NOT tgisinternal AND tgenabled <> 'A'"
        " AND tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'wallet'::regnamespace)"
        " AND tgrelid::regclass::text NOT LIKE 'wallet.partner%'"
    )
    assert [tuple(row) for row in triggers] == []
