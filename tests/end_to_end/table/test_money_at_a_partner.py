"""A partner that is down, slow or lies at each step of a round: nothing is lost, nothing happens twice."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from rules_core.round import events as e
from tests.end_to_end.table.partnered import (
    ANTE,
    START,
    Partnered,
    bets,
    cancel,
    chooses,
    declined,
    finish,
    sixth,
    until_window,
    withdraws,
)
from tests.end_to_end.table.play import CURRENCY, Table, ante, balance, bet_item, player
from tests.end_to_end.table.test_rounds import everyone_has, players
from tests.messaging.waiting import until
from tests.wallet.partner import Trick

pytestmark = pytest.mark.asyncio(loop_scope="module")

DONE: Final = (Trick.HONEST, Trick.TWICE)
UNCLEAR: Final = (
    Trick.CUT,
    Trick.LOST,
    Trick.BROKEN,
    Trick.BROKEN_DONE,
    Trick.OTHER_TOTAL,
    Trick.OTHER_CURRENCY,
    Trick.OTHER_CALL,
    Trick.GARBAGE,
    Trick.ENDLESS,
    Trick.AWAY,
    Trick.POISONS,
)
"""No clear word, and the money may be gone. (Nobody can find out who says no and takes the money.)"""
REFUSED: Final = ("fold", "bet_not_funded")
UNHEARD: Final = ("fold", "wallet_unavailable")
WON: Final = 4 * ANTE
"""Of a bet of two antes: a pair and ace-king against ace-king."""


async def asked_in_turn(partnered: Partnered, table: Table, *tricks: Trick) -> dict[str, Trick]:
    """A guest for each trick, whose bet meets it."""
    names = await partnered.guests(len(tricks))
    for name, trick in zip(names, tricks, strict=True):
        partnered.partner.script("bet", trick)
        outcome = await bets(table, name)
        assert outcome.HasField("accepted") is (trick in DONE), (trick, outcome)
        if trick is Trick.REFUSES:
            assert outcome.declined.reason == "funds_refused", outcome
        elif trick not in DONE:
            assert outcome.declined.reason == "wallet_unavailable", (trick, outcome)
    return dict(zip(names, tricks, strict=True))


async def all_bet(partnered: Partnered, table: Table, count: int) -> tuple[str, ...]:
    """Guests with an ante each, honestly taken."""
    names = await partnered.guests(count)
    for name in names:
        outcome = await bets(table, name)
        assert outcome.HasField("accepted"), outcome
    return names


def by_platform(table: Table) -> dict[str, tuple[str, str | None]]:
    """What the platform chose for whom, and why."""
    chosen = (one for one in table.events if isinstance(one, e.FinalOptionChosen) and one.by == "platform")
    return {one.player: (one.choice, one.reason) for one in chosen}


async def test_it_is_down_before_the_bet(partnered: Partnered) -> None:
    table = await partnered.table()
    (name,) = await partnered.guests(1)
    item = bet_item(ante(2, ANTE))
    await partnered.partner.crash()
    (refused,) = await table.bet(player(name), [item])
    assert refused.declined.reason == "wallet_unavailable", refused
    await partnered.partner.start()
    (same,) = await table.bet(player(name), [item])
    assert same == refused, "a bet that was declined stays declined"
    anew = await bets(table, name)
    assert anew.HasField("accepted"), anew
    await finish(table)
    await partnered.explained(table, [name])


async def test_it_does_what_it_likes_at_the_bets_hold(partnered: Partnered) -> None:
    table = await partnered.table(betting_ms=8_000)
    asked = await asked_in_turn(partnered, table, Trick.HONEST, *UNCLEAR, Trick.REFUSES, Trick.TWICE)
    await finish(table)
    assert set(table.settled()) == {name for name, trick in asked.items() if trick in DONE}
    await partnered.explained(table, asked)


async def test_it_answers_after_the_close(partnered: Partnered) -> None:
    """What it takes before it answers, and what it takes after we gave up: both go back.

    Meanwhile nobody else waits for it.
    """
    table = await partnered.table(betting_ms=2_500)
    (own,) = await players(partnered.casino, 1, START)
    server = partnered.partner
    (honest,) = await all_bet(partnered, table, 1)
    late = await partnered.guests(4)
    server.script("bet", Trick.HANGS, Trick.LATE, Trick.HANGS, Trick.LATE)
    before = len(server.calls)
    asking = [asyncio.create_task(bets(table, name)) for name in late]
    await until(lambda: sum(kind == "bet" for kind, _ in server.calls[before:]) == len(late))
    assert (await bets(table, own)).HasField("accepted")
    assert not any(task.done() for task in asking), "an answer of our ledger came before all of the partner's"
    for outcome in await asyncio.gather(*asking):
        assert outcome.declined.reason == "hold_answered_late", outcome
    await table.look()
    assert [declined(table, name) for name in late] == [["hold_answered_late"]] * len(late)
    server.release_late()
    await finish(table)
    assert set(table.settled()) == {honest, own}
    await everyone_has(partnered.casino, table, (own,), START)
    await partnered.explained(table, [honest, *late])


async def test_it_does_what_it_likes_at_the_options_hold(partnered: Partnered) -> None:
    """An option without its money is not chosen: the player may choose again until the close."""
    table = await partnered.table(window_ms=3_000)
    server = partnered.partner
    names = await all_bet(partnered, table, 5)
    again, cut, refused, slow, honest = names
    await until_window(table, "options")
    for name, trick in ((again, Trick.LOST), (cut, Trick.CUT), (refused, Trick.REFUSES)):
        server.script("bet", trick)
        outcome = await sixth(table, name)
        assert outcome.HasField("declined"), (trick, outcome)
    server.script("bet", Trick.HANGS)
    before = len(server.calls)
    hanging = asyncio.create_task(sixth(table, slow))
    await until(lambda: any(kind == "bet" for kind, _ in server.calls[before:]))
    for name in (again, cut, honest):
        outcome = await sixth(table, name)
        assert outcome.HasField("accepted"), outcome
    late = await hanging
    assert late.declined.reason == "hold_answered_late", late
    server.release_late()
    await finish(table)
    bought = {one.player for one in table.events if isinstance(one, e.OptionChosen)}
    assert bought == {again, cut, honest}
    assert [len(declined(table, name)) for name in names] == [1, 1, 1, 1, 0]
    staked = {name: one.staked for name, one in table.settled().items()}
    assert staked == {name: (4 if name in bought else 3) * ANTE for name in names}
    await partnered.explained(table, names)


async def test_it_does_what_it_likes_at_the_bets_by_default(partnered: Partnered) -> None:
    table = await partnered.table()
    server = partnered.partner
    tricks = (Trick.HONEST, Trick.TWICE, Trick.REFUSES, Trick.HANGS, Trick.LATE, *UNCLEAR)
    names = await all_bet(partnered, table, len(tricks))
    before = len(server.calls)
    server.script("bet", *tricks)
    await until_window(table, "final_options")
    await table.until_closed(("final_options", None))
    server.release_late()
    asked = [call["player"] for kind, call in server.calls[before:] if kind == "bet"]
    assert sorted(asked) == sorted(names), "each was asked for once"
    met = dict(zip(asked, tricks, strict=True))
    chosen = by_platform(table)
    assert {name for name, (choice, _) in chosen.items() if choice == "bet"} == {
        name for name, trick in met.items() if trick in DONE
    }
    for name, trick in met.items():
        if trick not in DONE:
            assert chosen[name] == (REFUSED if trick is Trick.REFUSES else UNHEARD), trick
    await finish(table)
    staked = {name: one.staked for name, one in table.settled().items()}
    assert staked == {name: (3 if trick in DONE else 1) * ANTE for name, trick in met.items()}
    await partnered.explained(table, names)


async def test_it_is_down_at_the_bets_by_default(partnered: Partnered) -> None:
    table = await partnered.table()
    names = await all_bet(partnered, table, 3)
    await until_window(table, "final_options")
    await partnered.partner.crash()
    await table.until_closed(("final_options", None))
    await finish(table)
    assert by_platform(table) == dict.fromkeys(names, UNHEARD)
    assert {one.net for one in table.settled().values()} == {-ANTE}
    await partnered.partner.start()
    await partnered.explained(table, names)


async def test_it_does_what_it_likes_at_the_settlements_win(partnered: Partnered) -> None:
    table = await partnered.table()
    server = partnered.partner
    tricks = (Trick.HONEST, Trick.TWICE, Trick.HANGS, *UNCLEAR)
    names = await all_bet(partnered, table, len(tricks))
    server.script("win", *tricks)
    await finish(table)
    assert [table.settled()[name].net for name in names] == [WON] * len(names)
    await partnered.explained(table, names)


async def test_it_is_down_at_the_settlement(partnered: Partnered) -> None:
    """Our ledger pays at once; the partner is told when it is there again, and owes it till then."""
    table = await partnered.table()
    server = partnered.partner
    names = await all_bet(partnered, table, 3)
    await until_window(table, "final_options")
    await table.until_closed(("final_options", None))
    await server.crash()
    await finish(table)

    async def posted() -> bool:
        return [await balance(partnered.casino.calls, name) for name in names] == [(0, 0)] * len(names)

    await until(posted, what="nothing is held")
    assert {server.balances[name, CURRENCY] for name in names} == {START - 3 * ANTE}
    await server.start()
    await partnered.explained(table, names)


async def test_it_does_what_it_likes_at_the_rollbacks_of_a_cancelled_round(partnered: Partnered) -> None:
    table = await partnered.table()
    server = partnered.partner
    tricks = (Trick.HONEST, Trick.TWICE, Trick.HANGS, *UNCLEAR)
    names = await all_bet(partnered, table, len(tricks))
    server.script("rollback", *tricks)
    await table.until("the deal", lambda: table.step == "lay_card")
    await cancel(table)
    await partnered.explained(table, names)


async def test_it_is_down_when_a_round_is_cancelled(partnered: Partnered) -> None:
    """One bet is lost on its way when it goes down, others stand: all of them go back."""
    table = await partnered.table()
    server = partnered.partner
    names = await all_bet(partnered, table, 2)
    (lost,) = await partnered.guests(1)
    server.always("rollback", Trick.BROKEN)
    server.script("bet", Trick.LOST)
    assert (await bets(table, lost)).HasField("declined")
    await server.crash()
    await cancel(table)
    server.always("rollback", Trick.HONEST)
    await server.start()
    await partnered.explained(table, [*names, lost])


async def test_it_does_what_it_likes_when_wagers_are_withdrawn(partnered: Partnered) -> None:
    """Whoever bets again is told about in order: first the rollback, then the win."""
    table = await partnered.table(betting_ms=8_000)
    server = partnered.partner
    tricks = (Trick.HONEST, Trick.TWICE, *UNCLEAR)
    names = await all_bet(partnered, table, len(tricks))
    server.script("rollback", *tricks)
    for name in names:
        assert (await withdraws(table, name)).HasField("accepted")
    again = names[::3]
    for name in again:
        assert (await bets(table, name)).HasField("accepted")
    await finish(table)
    assert set(table.settled()) == set(again)
    await partnered.explained(table, names)


async def test_it_does_what_it_likes_with_the_reserve_for_the_bet(partnered: Partnered) -> None:
    """The bet's money is asked for with the ante; it becomes the bet, or it is paid back with the round."""
    table = await partnered.table(window_ms=1_500, reserve=True)
    server = partnered.partner
    folds, stays, moves = await all_bet(partnered, table, 3)
    assert {server.balances[name, CURRENCY] for name in (folds, stays, moves)} == {START - 3 * ANTE}
    (poor,) = [await partnered.guest(3 * ANTE - 1)]
    refused = await bets(table, poor)
    assert refused.declined.reason == "funds_refused", "the ante alone is not enough"
    assert (await withdraws(table, moves)).HasField("accepted")
    await until_window(table, "options")
    server.script("rollback", Trick.LOST)
    server.script("win", Trick.LOST, Trick.BROKEN)
    before = len(server.calls)
    assert (await chooses(table, folds, "fold")).HasField("accepted")
    await finish(table)
    assert all(kind != "bet" for kind, _ in server.calls[before:]), "the bet's money was there"
    assert {name: one.net for name, one in table.settled().items()} == {folds: -ANTE, stays: WON}
    await partnered.explained(table, [folds, stays, moves])
    assert server.balances[poor, CURRENCY] == 3 * ANTE - 1
