"""Rounds that are corrected or cancelled after the money is gone: what is there is taken, the rest owed."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from rules_core.round import events as e
from servicekit.grpc import acting_as
from tests.end_to_end.table.partnered import ANTE, OPERATOR, START, Partnered, bets, cancel, finish
from tests.end_to_end.table.play import CURRENCY, TIMEOUT_S, Table, account_of, balance, deposit, fresh
from tests.end_to_end.table.processes import MANAGER, PLATFORM, SECOND, Casino
from tests.end_to_end.table.test_rounds import agreed, players
from tests.messaging.waiting import until
from upcard.table.v1 import table_pb2 as pb
from upcard.wallet.v1 import wallet_pb2

pytestmark = pytest.mark.asyncio(loop_scope="module")

WON: Final = 4 * ANTE
LOST: Final = 3 * ANTE
ACE, EIGHT = "Ad", "8h"
"""The dealer's fourth card: with the ace the dealer has a pair too, and better kickers."""


async def withdraw(casino: Casino, name: str, amount: int) -> wallet_pb2.WithdrawResponse:
    """Take money home."""
    request = wallet_pb2.WithdrawRequest(
        request_id=fresh(), account=account_of(name), amount=amount, currency=CURRENCY
    )
    with acting_as(PLATFORM):
        return await casino.calls.wallet.Withdraw(request, timeout=TIMEOUT_S)


async def correct(table: Table, *, card: str = "", refund: bool = False) -> None:
    """One person proposes that the dealer's fourth card was another one, or a refund; another approves it."""
    cards = [pb.PlacedCard(place="dealer.3", card=card)] if card else []
    proposal = pb.ProposeResettlementRequest(
        request_id=fresh(),
        table=table.name,
        round=table.number,
        reason="wrong_result" if refund else "wrong_card_read",
        refund=refund,
        cards=cards,
    )
    with acting_as(MANAGER):
        proposed = await table.calls.table.ProposeResettlement(proposal, timeout=TIMEOUT_S)
    assert proposed.HasField("resettlement"), proposed
    word = pb.DecideResettlementRequest(
        request_id=fresh(),
        table=table.name,
        resettlement=proposed.resettlement.resettlement,
        approve=True,
    )
    with acting_as(MANAGER):
        alone = await table.calls.table.DecideResettlement(word, timeout=TIMEOUT_S)
    assert alone.refusal.reason == "two_people_needed", alone
    word.request_id = fresh()
    with acting_as(SECOND):
        approved = await table.calls.table.DecideResettlement(word, timeout=TIMEOUT_S)
    assert approved.resettlement.state == pb.RESETTLEMENT_STATE_APPROVED, approved
    await table.look()


async def money(casino: Casino, name: str) -> tuple[int, int, int]:
    """Cash, held and owed."""
    asked = wallet_pb2.GetBalanceRequest(account=account_of(name))
    found = (await casino.calls.wallet.GetBalance(asked, timeout=TIMEOUT_S)).found.balance
    return found.cash, found.held, found.owed


async def until_money(casino: Casino, name: str, cash: int, owed: int) -> None:
    """Wait until the player has this, and nothing is held."""

    async def has() -> bool:
        return await money(casino, name) == (cash, 0, owed)

    await until(has, what=f"{name} has {cash} and owes {owed}")


async def won(partnered: Partnered, name: str) -> Table:
    """A round that this player has won: `START + WON` by now."""
    table = await partnered.table(betting_ms=1_500)
    assert (await bets(table, name)).HasField("accepted")
    await finish(table)
    assert table.settled()[name].net == WON
    return table


async def test_a_correction_takes_what_is_there_and_the_rest_is_owed(partnered: Partnered) -> None:
    casino = partnered.casino
    (name,) = await players(casino, 1, START)
    table = await won(partnered, name)
    await until_money(casino, name, START + WON, 0)
    assert (await withdraw(casino, name, START + WON - 250)).HasField("moved")
    await correct(table, card=ACE)
    assert table.settled()[name].net == -LOST
    await until_money(casino, name, 0, WON + LOST - 250)
    await deposit(casino.calls, name, 10)
    refused = await withdraw(casino, name, 1)
    assert refused.refusal.reason == "debt_open", refused
    await agreed(table, partnered.log)
    await partnered.no_differences()


async def test_a_correction_that_is_corrected_owes_nothing_in_the_end(partnered: Partnered) -> None:
    casino = partnered.casino
    (name,) = await players(casino, 1, START)
    table = await won(partnered, name)
    await until_money(casino, name, START + WON, 0)
    assert (await withdraw(casino, name, START + WON)).HasField("moved")
    await correct(table, card=ACE)
    await until_money(casino, name, 0, WON + LOST)
    await correct(table, card=EIGHT)
    assert table.settled()[name].net == WON

    async def even() -> bool:
        cash, held, owed = await money(casino, name)
        return (cash - owed, held) == (0, 0)

    await until(even, what="who took home what was theirs is even")
    assert [one.revision for one in table.events if isinstance(one, e.PlayerSettled)] == [1, 2, 3]
    await agreed(table, partnered.log)
    await partnered.no_differences()


async def test_a_refund_of_everybody_takes_what_is_there(partnered: Partnered) -> None:
    """Two winners: one still has the win, the other has taken it home and owes it."""
    casino = partnered.casino
    rich, gone = await players(casino, 2, START)
    table = await partnered.table(betting_ms=1_500)
    for name in (rich, gone):
        assert (await bets(table, name)).HasField("accepted")
    await finish(table)
    for name in (rich, gone):
        await until_money(casino, name, START + WON, 0)
    assert (await withdraw(casino, gone, START + WON)).HasField("moved")
    await correct(table, refund=True)
    await until_money(casino, rich, START, 0)
    await until_money(casino, gone, 0, WON)
    await agreed(table, partnered.log)
    await partnered.no_differences()


async def test_a_round_is_cancelled_after_the_rest_was_withdrawn(partnered: Partnered) -> None:
    """Held money cannot be withdrawn, and comes back whole; with a partner's player too."""
    casino = partnered.casino
    (name,) = await players(casino, 1, START)
    (guest,) = await partnered.guests(1)
    table = await partnered.table(betting_ms=1_500)
    for who in (name, guest):
        assert (await bets(table, who)).HasField("accepted")
    assert (await withdraw(casino, name, START)).refusal.reason == "funds_refused"
    assert (await withdraw(casino, name, START - ANTE)).HasField("moved")
    partnered.partner.give(guest, ANTE - START)
    assert await balance(casino.calls, name) == (0, ANTE)
    await table.until("the deal", lambda: table.step == "lay_card")
    await cancel(table)
    await until_money(casino, name, ANTE, 0)
    await partnered.explained(table, [guest], start=ANTE)


async def parked(partnered: Partnered, name: str) -> wallet_pb2.ParkedCall:
    """The call about this player that waits for people."""
    found: list[wallet_pb2.ParkedCall] = []

    async def there() -> bool:
        asked = wallet_pb2.ListParkedCallsRequest(operator=OPERATOR)
        with acting_as(MANAGER):
            answer = await partnered.casino.calls.wallet.ListParkedCalls(asked, timeout=TIMEOUT_S)
        found[:] = [call for call in answer.calls if call.account == account_of(name)]
        return bool(found)

    await until(there, what=f"a call about {name} is parked")
    (call,) = found
    return call


async def test_a_partners_player_has_taken_the_win_home_and_brings_it_back(partnered: Partnered) -> None:
    (name,) = await partnered.guests(1)
    table = await won(partnered, name)
    await partnered.explained(table, [name])
    partnered.partner.give(name, -(START + WON))
    await correct(table, card=ACE)
    call = await parked(partnered, name)
    assert (call.kind, call.reason) == (wallet_pb2.PARKED_KIND_ROLLBACK_OF_WIN, "refused_funds")
    partnered.partner.give(name, START + WON)
    request = wallet_pb2.RetryParkedCallRequest(request_id=fresh(), call=call.call, reason="paid back")
    with acting_as(MANAGER):
        tried = await partnered.casino.calls.wallet.RetryParkedCall(request, timeout=TIMEOUT_S)
    assert not tried.HasField("refusal"), tried
    await partnered.explained(table, [name])


async def test_a_partners_player_has_taken_the_win_home_and_owes_it(partnered: Partnered) -> None:
    """Two people decide so: the partner's books and ours agree again, and the debt explains the rest."""
    casino, wallet = partnered.casino, partnered.casino.calls.wallet
    (name,) = await partnered.guests(1)
    table = await won(partnered, name)
    await partnered.explained(table, [name])
    partnered.partner.give(name, -(START + WON))
    await correct(table, card=ACE)
    call = await parked(partnered, name)
    proposal = wallet_pb2.ProposeParkedEndingRequest(
        request_id=fresh(),
        call=call.call,
        ending=wallet_pb2.PARKED_ENDING_OWED_BY_PLAYER,
        reason="the money is gone",
    )
    with acting_as(MANAGER):
        proposed = await wallet.ProposeParkedEnding(proposal, timeout=TIMEOUT_S)
    word = wallet_pb2.DecideParkedEndingRequest(
        request_id=fresh(), proposal=proposed.proposal.proposal, approve=True
    )
    with acting_as(SECOND):
        deciding = [wallet.DecideParkedEnding(word, timeout=TIMEOUT_S) for _ in range(2)]
        first, again = await asyncio.gather(*deciding)
    assert first == again
    assert first.proposal.state == wallet_pb2.PARKED_PROPOSAL_STATE_APPROVED, first
    await until_money(casino, name, 0, call.amount)
    await partnered.no_differences()
    assert partnered.partner.balances[name, CURRENCY] == 0
    assert call.amount == WON + LOST, "the win that could not be taken back"
    await agreed(table, partnered.log)
