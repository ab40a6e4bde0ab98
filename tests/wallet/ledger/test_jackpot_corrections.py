"""Corrections of jackpots: the house pays the difference, and a player gives back what is there."""

from __future__ import annotations

from tests.wallet.ledger.test_audit import audited
from tests.wallet.ledger.world import ORIGIN, World
from upcard_wallet.app.deposit import Deposit, deposit
from upcard_wallet.app.jackpots import Correction, Hit, JackpotFact, Seed, Share, post_jackpots
from upcard_wallet.app.moving import Moved
from upcard_wallet.app.withdraw import Withdraw, withdraw
from upcard_wallet.domain.events import JackpotShareCorrected

POOL = "SELECT balance FROM wallet.balances JOIN wallet.books USING (book) WHERE kind = 'jackpot'"


async def test_a_correction_moves_pool_house_and_winners(world: World) -> None:
    await world.player("p1")
    await world.player("p2", purse="seamless")
    await world.player("p3")
    new = world.event_id
    first: list[JackpotFact] = [
        Seed("j1", "op1", "EUR", 200, new()),
        Hit("j1", "op1", "EUR", (Share("p1", 50), Share("p2", 30)), "t1.1", new()),
    ]
    await world.change(lambda connection: post_jackpots(world.wallet, connection, first, ORIGIN))
    assert isinstance(await world.do(withdraw, Withdraw("p1-EUR", 20, "w")), Moved)
    back = Correction(
        "j1", "op1", "EUR", 80, (Share("p1", -50), Share("p2", -30), Share("p3", 7)), "t1.1", new()
    )
    for _ in range(2):
        await world.change(lambda connection: post_jackpots(world.wallet, connection, [back], ORIGIN))
    assert await world.has("p1-EUR") == (0, 0, 0, 20), "20 had been withdrawn: they are owed"
    assert await world.has("p2-EUR") == (0, 0, 0, 30)
    assert await world.has("p3-EUR") == (7, 0, 0, 0)
    assert await world.value(POOL) == 200
    assert (await world.books())["house"] == -200 - 7
    assert [one.amount for one in world.partner.credits] == [30], "a partner is asked for nothing"
    told = (await world.events())[-1]
    assert isinstance(told, JackpotShareCorrected)
    assert (told.amount, told.owed, told.source, told.round) == (-30, 20, "j1", "t1.1")
    assert isinstance(await world.do(deposit, Deposit("p1-EUR", 5, "d", "EUR")), Moved)
    await world.all_is_explained()
    assert await audited(world) == []


async def test_what_a_pool_lacks_the_house_bears(world: World) -> None:
    await world.player("p1")
    new = world.event_id
    facts: list[JackpotFact] = [
        Seed("j1", "op1", "EUR", 10, new()),
        Correction("j1", "op1", "EUR", -50, (Share("p1", 50),), "t1.1", new()),
        Correction("j1", "op1", "EUR", 0, (), "t1.2", new()),
    ]
    await world.change(lambda connection: post_jackpots(world.wallet, connection, facts, ORIGIN))
    assert await world.has("p1-EUR") == (50, 0, 0, 0)
    assert (await world.value(POOL), (await world.books())["house"]) == (0, -50)
    await world.all_is_explained()
    assert await audited(world) == []
