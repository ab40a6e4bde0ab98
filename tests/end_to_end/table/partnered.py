"""A casino whose players' money lies with a partner with books of its own, and what is so at the end."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final

import asyncpg

from eventstore.postgres import PostgresEventStore
from rules_core.cards import Card
from rules_core.round import events as e
from servicekit.grpc import acting_as
from stack import Stack
from tests.end_to_end.table.play import (
    CURRENCY,
    TIMEOUT_S,
    Table,
    Terms,
    account_of,
    ante,
    bet_item,
    cards,
    fresh,
    player,
)
from tests.end_to_end.table.processes import FLOOR, PLATFORM, Casino, open_casino
from tests.end_to_end.table.test_rounds import agreed
from tests.messaging.waiting import until
from tests.wallet.partner import SECRET, PartnerServer
from upcard.table.v1 import table_pb2 as pb
from upcard.wallet.v1 import wallet_pb2
from upcard_wallet.adapters.seamless.standing import rounds_with_partners

OPERATOR: Final = "op9"
START: Final = 1_000
ANTE: Final = 100
HANDS: Final = {"box.2": "As Ah Kd 7c 2s", "dealer": "Ac Kc Qd 8h 5c", "switch": "3h 4h 9d Td 6s"}
"""Box 2 has a pair and the dealer a game: whoever has no bet at the close of the final options bets."""
_UNZERO: Final = "SELECT currency FROM wallet.postings GROUP BY currency HAVING sum(amount) <> 0"
_UNBALANCED: Final = (
    "SELECT b.book FROM wallet.balances AS b LEFT JOIN wallet.postings AS p USING (book)"
    " GROUP BY b.book, b.balance HAVING b.balance <> coalesce(sum(p.amount), 0)"
)
_OPEN_HOLDS: Final = (
    "SELECT hold, round, state FROM wallet.holds WHERE state NOT IN ('settled', 'released', 'refused')"
)
_UNTOLD: Final = (
    "SELECT l.round, c.kind, c.state, l.state FROM wallet.partner_lanes AS l"
    " LEFT JOIN wallet.partner_calls AS c ON c.lane = l.lane AND c.state IN ('queued', 'asking')"
    " WHERE l.state <> 'idle' OR c.state = 'asking'"
)
_AUDITED: Final = (
    "SELECT sum(h.position) = sum(coalesce(p.position, 0)) FROM eventstore.shard_heads AS h"
    " LEFT JOIN eventstore.positions AS p ON p.shard = h.shard AND p.follower = 'wallet-audit'"
)
_OPERATOR_BOOK: Final = (
    "SELECT coalesce(sum(amount), 0) FROM wallet.postings JOIN wallet.books USING (book)"
    " WHERE kind = 'operator' AND owner = $1"
)


@dataclass
class Partnered:
    """The casino, its log, and the partner."""

    casino: Casino
    log: PostgresEventStore
    partner: PartnerServer

    async def guest(self, money: int = START) -> str:
        """A player whose money lies with the partner."""
        name = f"g{fresh()[:10]}"
        account = wallet_pb2.Account(
            account=account_of(name),
            player=name,
            operator=OPERATOR,
            currency=CURRENCY,
            purse=wallet_pb2.PURSE_SEAMLESS,
        )
        with acting_as(PLATFORM):
            opened = await self.casino.calls.wallet.OpenAccount(
                wallet_pb2.OpenAccountRequest(request_id=fresh(), account=account), timeout=TIMEOUT_S
            )
        assert opened.account == account, opened
        self.partner.give(name, money)
        return name

    async def guests(self, count: int) -> tuple[str, ...]:
        """Several of them."""
        return tuple([await self.guest() for _ in range(count)])

    async def table(self, *, betting_ms: int = 3_000, window_ms: int = 300, reserve: bool = False) -> Table:
        """A live-shared table with an open round, whose hands are `HANDS`."""
        terms = Terms(
            "live-shared@1", betting_ms=betting_ms, window_ms=window_ms, reserve=reserve, bonus=False
        )
        table = Table(self.casino.calls, self.log, terms)
        await table.open()
        await table.open_round()
        table.reserve(PLAN.values())
        return table

    @contextlib.asynccontextmanager
    async def ledger(self) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
        """The wallet's database."""
        connection = await asyncpg.connect(self.casino.wallet_dsn)
        try:
            yield connection
        finally:
            await connection.close()

    async def no_differences(self) -> None:
        """Everything is told, no hold is open, the ledger explains all; the partner's sums are ours."""
        async with self.ledger() as connection:

            def none(query: str) -> Callable[[], Awaitable[bool]]:
                async def empty() -> bool:
                    return not await connection.fetch(query)

                return empty

            async def audited() -> bool:
                return bool(await connection.fetchval(_AUDITED))

            await until(none(_UNTOLD), what="everything is told")
            await until(none(_OPEN_HOLDS), what="no hold is open")
            await until(audited, what="the log is audited")
            assert await connection.fetch("SELECT * FROM wallet.differences") == []
            assert await connection.fetch(_UNZERO) == []
            assert await connection.fetch(_UNBALANCED) == []
            ours = await connection.fetchval(_OPERATOR_BOOK, OPERATOR)
            assert -ours == self.partner.owed_to_us(), "the partner's books and ours"
        assert self.partner.complaints == []

    async def explained(self, table: Table, names: Iterable[str], *, start: int = START) -> None:
        """The round is over; partner, ledger, calls and the round's stream say the same of every guest."""
        async with self.ledger() as connection:

            async def ended() -> bool:
                found = "SELECT EXISTS (SELECT FROM wallet.rounds WHERE round = $1)"
                return bool(await connection.fetchval(found, table.round_name))

            await until(ended, what=f"the wallet hears of the end of {table.round_name}")
            await self.no_differences()
            (one,) = [
                found
                for found in await rounds_with_partners(connection, [table.round_name])
                if found.operator == OPERATOR
            ]
            assert one.by_calls == one.by_ledger == one.told, one
        settled = table.settled()
        for name in names:
            net = settled[name].net if name in settled and table.state.step == "settled" else 0
            assert self.partner.balances[name, CURRENCY] == start + net, name
        await agreed(table, self.log)


PLAN: Final[dict[str, Card]] = {
    f"{hand}.{index}": card
    for hand, texts in HANDS.items()
    for index, card in enumerate(cards(texts.split()))
}


@contextlib.asynccontextmanager
async def open_partnered(
    stack: Stack, table_dsns: tuple[str, str], wallet_dsns: tuple[str, str], *, distrusted: bool = False
) -> AsyncIterator[tuple[Casino, PartnerServer]]:
    """A casino, and its one seamless operator's wallet in this process; it may be known as a liar."""
    async with PartnerServer() as partner:
        more = {
            "UPCARD_PARTNERS": json.dumps({OPERATOR: partner.address}),
            "UPCARD_PARTNER_SECRETS": json.dumps({OPERATOR: SECRET.decode()}),
            "UPCARD_PARTNER_TIMEOUT_S": "1",
            "UPCARD_PARTNERS_DISTRUSTED": json.dumps([OPERATOR] if distrusted else []),
        }
        program = "tests.end_to_end.table.quick_wallet"
        async with open_casino(
            stack, table_dsns, wallet_dsns, wallet_program=program, wallet_more=more
        ) as casino:
            yield casino, partner


async def bets(table: Table, name: str, amount: int = ANTE) -> pb.ItemOutcome:
    """One ante on box 2."""
    (outcome,) = await table.bet(player(name), [bet_item(ante(2, amount))])
    return outcome


async def chooses(table: Table, name: str, kind: str) -> pb.ItemOutcome:
    """An option of box 2."""
    item = pb.ChooseOptionsItem(box=2, kind=kind, bet_id="" if kind == "fold" else fresh())
    request = pb.ChooseOptionsRequest(request_id=fresh(), table=table.name, round=table.number, items=[item])
    with acting_as(player(name)):
        (outcome,) = (await table.calls.table.ChooseOptions(request, timeout=TIMEOUT_S)).items
    return outcome


async def sixth(table: Table, name: str) -> pb.ItemOutcome:
    """A sixth card for box 2, for one more ante."""
    return await chooses(table, name, "sixth")


async def withdraws(table: Table, name: str) -> pb.ItemOutcome:
    """The ante of box 2 is taken back, before the deal."""
    item = pb.WithdrawBetsItem(box=2, wager="ante")
    request = pb.WithdrawBetsRequest(request_id=fresh(), table=table.name, round=table.number, items=[item])
    with acting_as(player(name)):
        (outcome,) = (await table.calls.table.WithdrawBets(request, timeout=TIMEOUT_S)).items
    return outcome


async def until_window(table: Table, kind: str) -> None:
    """Deal until this window is open."""
    while True:
        await table.until(
            f"the window {kind}",
            lambda: (
                table.window == (kind, None) or table.over() or table.step in {"lay_card", "confirm_cards"}
            ),
        )
        if table.window == (kind, None):
            return
        assert not table.over(), "the round is over without this window"
        await table.deal(PLAN.get)


async def finish(table: Table) -> None:
    """Deal until the round is over."""
    while not table.over():
        await table.deal(PLAN.get)


async def cancel(table: Table) -> None:
    """The floor cancels the round."""
    request = pb.CancelRoundRequest(
        request_id=fresh(), table=table.name, round=table.number, reason="dealer_mistake"
    )
    with acting_as(FLOOR):
        answer = await table.calls.table.CancelRound(request, timeout=TIMEOUT_S)
    assert answer.changed.round == table.number, answer
    await table.look()
    assert table.state.step == "cancelled"


def declined(table: Table, name: str) -> list[str]:
    """Why bets of a player were declined."""
    return [one.reason for one in table.events if isinstance(one, e.BetDeclined) and one.player == name]
