"""The same command twice, reordered, at once from two callers through two instances: one effect."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pytest
import pytest_asyncio

from rules_core.round import events as e
from servicekit.grpc import Actor, ActorKind, acting_as
from tests.end_to_end.table.partnered import (
    ANTE,
    START,
    Partnered,
    bets,
    cancel,
    finish,
    until_window,
)
from tests.end_to_end.table.play import (
    CURRENCY,
    TIMEOUT_S,
    Table,
    account_of,
    ante,
    balance,
    bet_item,
    deposit,
    fresh,
    player,
    until_balance,
)
from tests.end_to_end.table.processes import DEALER, FLOOR, MANAGER, PLATFORM, SECOND, Calls, calls_to
from tests.end_to_end.table.test_failover import another
from tests.end_to_end.table.test_rounds import agreed, everyone_has, players
from tests.wallet.edges.processes import in_thread
from upcard.table.v1 import table_pb2 as pb
from upcard.wallet.v1 import wallet_pb2

pytestmark = pytest.mark.asyncio(loop_scope="module")

TIMES: Final = 6
THIRD: Final = Actor(ActorKind.STAFF, "m3", frozenset({"operations"}))
Send = Callable[[Calls], Awaitable[Any]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def doors(partnered: Partnered) -> AsyncIterator[tuple[Calls, Calls]]:
    """Two instances of the table service; either passes on what the other one owns."""
    casino = partnered.casino
    async with contextlib.AsyncExitStack() as exits:
        instance = another(casino)
        _, address = await in_thread(instance.__enter__)
        exits.callback(instance.__exit__, None, None, None)
        wallet = f"127.0.0.1:{casino.wallet_settings['UPCARD_GRPC__PORT']}"
        yield casino.calls, await exits.enter_async_context(calls_to(address, wallet))


async def at_both(doors: Sequence[Calls], send: Send, actors: Sequence[Actor]) -> list[Any]:
    """The same, some times through each instance and by each of these, all at once."""

    async def one(door: Calls, actor: Actor) -> Any:
        with acting_as(actor):
            return await send(door)

    wanted = [one(door, actor) for _ in range(TIMES) for door in doors for actor in actors]
    return list(await asyncio.gather(*wanted))


def of_one_kind(answers: Sequence[Any]) -> Any:
    """The answer that all of them are."""
    assert all(answer == answers[0] for answer in answers), answers
    return answers[0]


async def one_player(partnered: Partnered, *, betting_ms: int) -> tuple[str, Table]:
    """A player with money in our ledger, and an open round."""
    (name,) = await players(partnered.casino, 1, START)
    return name, await partnered.table(betting_ms=betting_ms)


@pytest.mark.parametrize("at_partner", [False, True], ids=["in our ledger", "at a partner"])
async def test_of_fifty_bets_at_once_ten_are_held(
    partnered: Partnered, doors: tuple[Calls, Calls], *, at_partner: bool
) -> None:
    """100 to spend and bets of 10, half of them through each instance."""
    (name,) = [await partnered.guest(100)] if at_partner else await players(partnered.casino, 1, 100)
    table = await partnered.table(betting_ms=6_000)
    there = [replace(table, calls=door) for door in doors]
    asked = [bets(there[number % 2], name, 10) for number in range(50)]
    outcomes = await asyncio.gather(*asked)
    assert sum(one.HasField("accepted") for one in outcomes) == 10, outcomes
    left = partnered.partner.balances[name, CURRENCY] if at_partner else 0
    assert left == 0
    assert await balance(partnered.casino.calls, name) == (0, 100)
    await table.look()
    placed = [one for one in table.events if isinstance(one, e.BetPlaced)]
    assert [sum(stake.amount for stake in one.stakes) for one in placed] == [10] * 10
    await finish(table)
    assert table.settled()[name].staked == 100, "no money is left for the bet"
    if at_partner:
        await partnered.explained(table, [name], start=100)
    else:
        await everyone_has(partnered.casino, table, (name,), 100)
        await agreed(table, partnered.log)
        await partnered.no_differences()


@pytest.mark.parametrize("at_partner", [False, True], ids=["in our ledger", "at a partner"])
async def test_a_bet_that_was_refused_for_funds_succeeds_after_a_deposit(
    partnered: Partnered, doors: tuple[Calls, Calls], *, at_partner: bool
) -> None:
    """With a new `bet_id`: the old one stays what it was, at either instance."""
    (name,) = [await partnered.guest(40)] if at_partner else await players(partnered.casino, 1, 40)
    table = await partnered.table(betting_ms=4_000)
    item = bet_item(ante(2, ANTE))
    (refused,) = await table.bet(player(name), [item])
    assert refused.declined.reason == "funds_refused", refused
    if at_partner:
        partnered.partner.give(name, 60)
    else:
        await deposit(partnered.casino.calls, name, 60)
    for door in doors:
        (same,) = await replace(table, calls=door).bet(player(name), [item])
        assert same == refused
    assert (await bets(table, name)).HasField("accepted")
    assert await balance(partnered.casino.calls, name) == (0, ANTE)
    await finish(table)
    assert table.settled()[name].staked == ANTE
    if at_partner:
        await partnered.explained(table, [name], start=100)
    else:
        await everyone_has(partnered.casino, table, (name,), 100)
        await partnered.no_differences()


async def test_one_bet_through_two_instances_is_one_bet(
    partnered: Partnered, doors: tuple[Calls, Calls]
) -> None:
    """Under one request id a caller, and under new ones; of a player and of a partner's player."""
    name, table = await one_player(partnered, betting_ms=4_000)
    (guest,) = await partnered.guests(1)
    for who in (name, guest):
        item = bet_item(ante(2, ANTE), who=who)

        def send(door: Calls, item: pb.PlaceBetsItem = item, request_id: str = "") -> Awaitable[Any]:
            request = pb.PlaceBetsRequest(
                request_id=request_id or fresh(), table=table.name, round=1, items=[item]
            )
            return door.table.PlaceBets(request, timeout=TIMEOUT_S)

        kept = partial(send, request_id=fresh())
        answers = await asyncio.gather(
            at_both(doors, send, [player(who), PLATFORM]),
            at_both(doors, kept, [player(who)]),
        )
        assert of_one_kind([*answers[0], *answers[1]]).items[0].HasField("accepted"), answers
    assert await balance(partnered.casino.calls, name) == (START - ANTE, ANTE)
    assert partnered.partner.balances[guest, CURRENCY] == START - ANTE
    await finish(table)
    assert [one.player for one in table.events if isinstance(one, e.BetPlaced)] == [name, guest]
    await everyone_has(partnered.casino, table, (name,), START)
    await partnered.explained(table, [guest])


async def test_commands_that_come_again_in_another_order_do_nothing(
    partnered: Partnered, doors: tuple[Calls, Calls]
) -> None:
    """Place, double, withdraw, place: then all of it again, backwards and at once, at the other instance."""
    name, table = await one_player(partnered, betting_ms=6_000)
    head: dict[str, Any] = {"table": table.name, "round": 1}
    place, double = bet_item(ante(2, ANTE)), pb.DoubleBetsItem(bet_id=fresh())
    back, last = pb.WithdrawBetsItem(box=2, wager="ante"), bet_item(ante(2, 50))
    first = pb.PlaceBetsRequest(request_id=fresh(), items=[place], **head)
    second = pb.DoubleBetsRequest(request_id=fresh(), items=[double], **head)
    third = pb.WithdrawBetsRequest(request_id=fresh(), items=[back], **head)
    fourth = pb.PlaceBetsRequest(request_id=fresh(), items=[last], **head)
    sends: list[Send] = [
        lambda door: door.table.PlaceBets(first, timeout=TIMEOUT_S),
        lambda door: door.table.DoubleBets(second, timeout=TIMEOUT_S),
        lambda door: door.table.WithdrawBets(third, timeout=TIMEOUT_S),
        lambda door: door.table.PlaceBets(fourth, timeout=TIMEOUT_S),
    ]
    with acting_as(player(name)):
        given = [await send(doors[0]) for send in sends]
        assert all(answer.items[0].HasField("accepted") for answer in given), given
        await until_balance(partnered.casino.calls, name, START - 50, 50)
        again = await asyncio.gather(*(send(doors[1]) for send in reversed(sends)))
        assert list(reversed(again)) == given
        # Known by their bets for ever, without the answers that are kept by request.
        for request in (first, fourth):
            request.request_id = fresh()
        anew = await asyncio.gather(*(sends[number](doors[1]) for number in (3, 0)))
    assert [anew[1], anew[0]] == [given[0], given[3]]
    await table.look()
    kinds = [type(one).__name__ for one in table.events]
    assert (kinds.count("BetPlaced"), kinds.count("BetWithdrawn")) == (3, 1), kinds
    assert await balance(partnered.casino.calls, name) == (START - 50, 50)
    await finish(table)
    await everyone_has(partnered.casino, table, (name,), START)
    await agreed(table, partnered.log)


async def test_one_option_through_two_instances_is_paid_once(
    partnered: Partnered, doors: tuple[Calls, Calls]
) -> None:
    (guest,) = await partnered.guests(1)
    (other,) = await partnered.guests(1)  # who has not decided, so that the window stays open
    table = await partnered.table(window_ms=2_500)
    for who in (guest, other):
        assert (await bets(table, who)).HasField("accepted")
    await until_window(table, "options")
    item = pb.ChooseOptionsItem(player=guest, box=2, kind="sixth", bet_id=fresh())

    def send(door: Calls) -> Awaitable[Any]:
        request = pb.ChooseOptionsRequest(request_id=fresh(), table=table.name, round=1, items=[item])
        return door.table.ChooseOptions(request, timeout=TIMEOUT_S)

    outcome = of_one_kind(await at_both(doors, send, [player(guest), PLATFORM])).items[0]
    assert outcome.HasField("accepted"), outcome
    assert partnered.partner.balances[guest, CURRENCY] == START - 2 * ANTE
    await finish(table)
    assert sum(isinstance(one, e.OptionChosen) for one in table.events) == 1
    await partnered.explained(table, [guest, other])


async def test_a_round_is_cancelled_once_by_two_people(
    partnered: Partnered, doors: tuple[Calls, Calls]
) -> None:
    (guest,) = await partnered.guests(1)
    table = await partnered.table()
    assert (await bets(table, guest)).HasField("accepted")

    def send(door: Calls) -> Awaitable[Any]:
        request = pb.CancelRoundRequest(
            request_id=fresh(), table=table.name, round=1, reason="dealer_mistake"
        )
        return door.table.CancelRound(request, timeout=TIMEOUT_S)

    answers = await at_both(doors, send, [DEALER, FLOOR])
    assert sum(answer.HasField("changed") for answer in answers) == 1, answers
    await table.look()
    assert sum(isinstance(one, e.RoundCancelled) for one in table.events) == 1
    await partnered.explained(table, [guest])


async def test_a_round_is_corrected_once_by_two_approvers(
    partnered: Partnered, doors: tuple[Calls, Calls]
) -> None:
    name, table = await one_player(partnered, betting_ms=1_500)
    assert (await bets(table, name)).HasField("accepted")
    await finish(table)
    proposal = pb.ProposeResettlementRequest(
        request_id=fresh(), table=table.name, round=1, reason="wrong_result", refund=True
    )
    answers = await at_both(
        doors, lambda door: door.table.ProposeResettlement(proposal, timeout=TIMEOUT_S), [MANAGER]
    )
    number = of_one_kind(answers).resettlement.resettlement
    assert number, answers

    def send(door: Calls) -> Awaitable[Any]:
        word = pb.DecideResettlementRequest(
            request_id=fresh(), table=table.name, resettlement=number, approve=True
        )
        return door.table.DecideResettlement(word, timeout=TIMEOUT_S)

    decided = await at_both(doors, send, [SECOND, THIRD])
    approved = {one.resettlement.decided_by for one in decided if one.HasField("resettlement")}
    assert len(approved) == 1, decided
    await table.look()
    assert sum(isinstance(one, e.CorrectionDecided) for one in table.events) == 1
    assert [one.revision for one in table.events if isinstance(one, e.PlayerSettled)] == [1, 2]
    await until_balance(partnered.casino.calls, name, START)
    await agreed(table, partnered.log)
    await partnered.no_differences()


async def test_a_tip_and_a_deposit_are_paid_once(partnered: Partnered, doors: tuple[Calls, Calls]) -> None:
    name, table = await one_player(partnered, betting_ms=1_500)
    tip = pb.TipRequest(request_id=fresh(), table=table.name, currency=CURRENCY, amount=300)
    given = of_one_kind(
        await at_both(doors, lambda door: door.table.Tip(tip, timeout=TIMEOUT_S), [player(name)])
    )
    assert given.HasField("given"), given
    payment = wallet_pb2.DepositRequest(
        request_id=fresh(), account=account_of(name), amount=70, currency=CURRENCY
    )
    moved = of_one_kind(
        await at_both(doors, lambda door: door.wallet.Deposit(payment, timeout=TIMEOUT_S), [PLATFORM])
    )
    assert moved.HasField("moved"), moved
    assert await balance(partnered.casino.calls, name) == (START - 300 + 70, 0)
    told = [event.type for event in await partnered.log.read_stream(f"table-{table.name}")]
    assert told.count("TipGiven") == 1
    await cancel(table)
    await partnered.no_differences()
