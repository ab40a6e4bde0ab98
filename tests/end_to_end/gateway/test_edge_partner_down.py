"""A partner falls away under load: its players are told, rounds end, wins arrive; others play on."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from statistics import quantiles

import pytest
import pytest_asyncio

from tests.end_to_end.gateway.dealing import ANTE, ScriptedTable
from tests.end_to_end.gateway.playing import Told, Wire, at_table, connected, happened, welcomed, window
from tests.end_to_end.gateway.processes import CURRENCY, SEAMLESS, TRANSFER, Edge, fresh, until
from tests.end_to_end.gateway.test_seamless_partner import signed
from upcard_platform.models.wallets import Deposit

pytestmark = pytest.mark.asyncio(loop_scope="module")

OWNED = 100_000
PLAYERS = 15
"""Of each operator."""
TABLE = "t-partner-down"
BLIND_NET = 2 * ANTE
WHOLE_NET = 6 * ANTE
PLACEMENTS = [
    {"box": 1, "wager": "ante", "amount": ANTE, "blind": True},
    {"box": 2, "wager": "ante", "amount": ANTE},
]


@dataclass
class Crowd:
    """An operator's players at the table."""

    operator: str
    wires: list[Wire]
    refs: list[str]
    """Our ids of them."""
    said: dict[str, Counter[str]] = field(default_factory=dict)
    """What became of bets and choices, by when."""
    texts: set[str] = field(default_factory=set)
    """What people were told who were not accepted."""

    def note(self, when: str, answers: Sequence[Told]) -> None:
        """Keep what was said."""
        counted = self.said.setdefault(when, Counter())
        for one in answers:
            counted["accepted" if one["accepted"] else one["reason"]] += 1
            if not one["accepted"]:
                self.texts.add(one["text"])

    async def bet(self, number: int, when: str) -> None:
        """All bet at once."""
        self.note(
            f"bets {when}",
            await asyncio.gather(
                *(one.say("bet", round=number, placements=PLACEMENTS) for one in self.wires)
            ),
        )

    async def choose(self, number: int, when: str) -> None:
        """All bet with the open box."""
        await asyncio.gather(*(window(one, number, "options") for one in self.wires))
        self.note(
            f"options {when}",
            await asyncio.gather(*(one.say("option", round=number, box=2, kind="bet") for one in self.wires)),
        )

    def times_ms(self) -> list[float]:
        """How long its answers took since this was asked last, in milliseconds."""
        found = [took * 1_000 for one in self.wires for took in one.answered_s]
        for one in self.wires:
            one.answered_s.clear()
        return found


@dataclass
class Load:
    """What was played, and what it showed."""

    edge: Edge
    theirs: Crowd
    others: Crowd
    others_ms: dict[str, list[float]] = field(default_factory=dict)
    rounds: list[int] = field(default_factory=list)
    balance_while_away: dict[str, int | None] = field(default_factory=dict)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def load(edge: Edge) -> AsyncIterator[Load]:
    async with contextlib.AsyncExitStack() as stack:
        table = ScriptedTable(edge.casino, TABLE)
        await table.open()
        theirs, others = [await came(edge, operator, stack) for operator in (SEAMLESS, TRANSFER)]
        found = Load(edge, theirs, others)
        for when in ("there", "there", "killed", "away", "away"):
            await a_round(table, found, when)
        found.balance_while_away = await balances(found)
        await asyncio.to_thread(edge.partner.start)
        yield found


async def came(edge: Edge, operator: str, stack: contextlib.AsyncExitStack) -> Crowd:
    """Players of an operator, with money, at the table."""
    crowd = Crowd(operator, [], [])
    for number in range(PLAYERS):
        name = f"load-{number}"
        launched = await edge.launched(operator, name)
        if operator == SEAMLESS:
            await asyncio.to_thread(edge.partner.give, launched.player_ref, CURRENCY, OWNED)
        else:
            deposit = Deposit(request_id=fresh(), currency=CURRENCY, amount=OWNED)
            await edge.platforms[operator].wallets.deposit(name, deposit)
        wire = await stack.enter_async_context(
            connected(edge.fleet.platform_url, launch_token=launched.launch_token, table=TABLE)
        )
        await welcomed(wire)
        await at_table(wire)
        crowd.wires.append(wire)
        crowd.refs.append(launched.player_ref)
    return crowd


async def a_round(table: ScriptedTable, load: Load, when: str) -> None:
    """A round of everybody, in which the partner is there, falls after the betting, or is away."""
    theirs, others = load.theirs, load.others

    async def betting(number: int) -> None:
        await asyncio.gather(theirs.bet(number, when), others.bet(number, when))

    async def options(number: int) -> None:
        if when == "killed":
            await asyncio.to_thread(load.edge.partner.kill)
        choosing = [others.choose(number, when)]
        if when != "away":
            choosing.append(theirs.choose(number, when))
        await asyncio.gather(*choosing)

    number = await table.play({"betting": betting, "options": options})
    load.rounds.append(number)
    await asyncio.gather(*(happened(one, number, "RoundSettled") for one in others.wires))
    load.others_ms.setdefault(when, []).extend(others.times_ms())


async def balances(load: Load) -> dict[str, int | None]:
    """What the partner's book says that its players own."""

    def look() -> dict[str, int | None]:
        return {one: load.edge.partner.balance(one, CURRENCY) for one in load.theirs.refs}

    return await asyncio.to_thread(look)


async def test_while_the_partner_is_there_everything_is_accepted(load: Load) -> None:
    for crowd in (load.theirs, load.others):
        assert crowd.said["bets there"] == {"accepted": 2 * PLAYERS}
        assert crowd.said["options there"] == {"accepted": 2 * PLAYERS}


async def test_new_bets_are_refused_with_a_clear_reason_while_it_is_away(load: Load) -> None:
    refused = load.theirs.said["bets away"]
    assert refused["accepted"] == 0
    assert refused.total() == 2 * PLAYERS
    assert set(refused) <= {"partner_unavailable", "wallet_unavailable"}
    assert refused["partner_unavailable"] > 0, "the circuit is open: nobody waits for it"
    assert all(len(text) > 10 and "_" not in text for text in load.theirs.texts), "in words"


async def test_others_play_on(load: Load) -> None:
    for when, rounds in (("there", 2), ("killed", 1), ("away", 2)):
        for what in ("bets", "options"):
            assert load.others.said[f"{what} {when}"] == {"accepted": rounds * PLAYERS}, (what, when)

    async def cash() -> set[int]:
        found = set()
        for number in range(PLAYERS):
            (balance,) = (await load.edge.platforms[TRANSFER].wallets.balances(f"load-{number}")).items
            found.add(balance.cash - balance.held)
        return found

    await until("the settled balances", cash, lambda found: found == {OWNED + 5 * WHOLE_NET})


async def test_how_long_others_waited_is_told(load: Load) -> None:
    for when, times in load.others_ms.items():
        cuts = quantiles(times, n=100)
        sys.stdout.write(
            f"answers to another operator, partner {when}: {len(times)}, "
            f"p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms\n"
        )
    assert set(load.others_ms) == {"there", "killed", "away"}


async def test_running_rounds_end_and_all_wins_arrive(load: Load) -> None:
    # The round in which it fell: both antes and the blind bet were taken, the open box's bet was not.
    taken = OWNED + 2 * WHOLE_NET - 4 * ANTE
    answers = load.theirs.said["options killed"]
    assert answers["accepted"] == 0, answers
    assert set(load.balance_while_away.values()) == {taken}
    due = OWNED + 2 * WHOLE_NET + BLIND_NET - ANTE

    async def found() -> Counter[int | None]:
        return Counter((await balances(load)).values())

    await until("every win", found, lambda balances: balances == {due: PLAYERS})


async def test_nothing_is_left_over(load: Load) -> None:
    movements = await asyncio.to_thread(load.edge.partner.movements)
    done = [one for one in movements if one.state == "done"]
    assert sum(map(signed, done)) == PLAYERS * (2 * WHOLE_NET + BLIND_NET - ANTE)
    assert len({one.id for one in movements}) == len(movements)

    async def failing() -> float:
        metrics = await asyncio.to_thread(load.edge.fleet.processes["wallet"].metrics)
        assert metrics.get("upcard_wallet_partner_calls_parked_total", 0.0) == 0
        return metrics.get("upcard_wallet_partner_failing_seconds", 0.0)

    await until("no call that fails", failing, lambda found: found == 0)
