"""Both purses, behind one set of words: whatever is true of one is true of the other."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from eventstore.postgres import PostgresEventStore, open_pool
from tests.wallet.ledger.world import ORIGIN
from tests.wallet.seamless.world import SeamlessWorld, seamless_world
from upcard_wallet.app.deposit import Deposit, deposit
from upcard_wallet.app.free_bets import Granted, post_free_bets
from upcard_wallet.app.moving import Moved
from upcard_wallet.app.purse import PurseKind
from upcard_wallet.app.withdraw import Withdraw, withdraw


class Purses:
    """One purse, its players, and where their money lies."""

    def __init__(self, world: SeamlessWorld, kind: PurseKind) -> None:
        self.world = world
        self.kind = kind
        self._payments = 0

    async def player(self, name: str = "p1", money: int = 0, *, currency: str = "EUR") -> None:
        """A player with money."""
        if self.kind == "internal":
            await self.world.player(name, money, currency=currency)
        else:
            await self.world.guest(name, money, currency=currency)

    async def pay_in(self, name: str, amount: int, *, currency: str = "EUR") -> None:
        """The player brings more money, to where it lies."""
        if self.kind == "seamless":
            self.world.server.give(name, amount, currency)
            return
        self._payments += 1
        paid = Deposit(f"{name}-{currency}", amount, f"paid-{self._payments}")
        assert isinstance(await self.world.do(deposit, paid), Moved)

    async def take_out(self, name: str, amount: int, *, currency: str = "EUR") -> None:
        """The player takes money home."""
        if self.kind == "seamless":
            self.world.server.give(name, -amount, currency)
            return
        self._payments += 1
        paid = Withdraw(f"{name}-{currency}", amount, f"taken-{self._payments}")
        assert isinstance(await self.world.do(withdraw, paid), Moved)

    async def grant(self, name: str, free_bet: str, amount: int) -> None:
        """The player is given a free bet."""
        granted = Granted(free_bet, name, "EUR", amount, self.world.event_id())
        wallet = self.world.wallet
        await self.world.change(lambda connection: post_free_bets(wallet, connection, [granted], ORIGIN))

    async def money(self, name: str = "p1", *, currency: str = "EUR") -> int:
        """What the player can spend, once everything is told."""
        if self.kind == "internal":
            return (await self.world.balance(f"{name}-{currency}")).cash
        await self.world.quiet()
        return self.world.server.balances.get((name, currency), 0)

    async def held(self, name: str = "p1", *, currency: str = "EUR") -> int:
        """What is set aside."""
        return (await self.world.balance(f"{name}-{currency}")).held


@pytest.fixture(params=["internal", "seamless"])
async def purse(request: pytest.FixtureRequest, service_database: str) -> AsyncIterator[Purses]:
    """Each of the two; at the end of every test the books agree, ours and the partner's."""
    async with (
        await open_pool(service_database, application_name="wallet", max_size=12) as pool,
        PostgresEventStore(pool) as store,
        seamless_world(pool, store, "op1") as world,
    ):
        world.start_work()
        yield Purses(world, request.param)
        if not world.told.parked_calls:
            await world.agrees_with_partners()
        assert world.told.failures == []
