"""A partner that fails again and again: no new antes, running rounds go on, and one call finds it back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from eventstore.postgres import Pool, PostgresEventStore
from servicekit.metrics import registry
from tests.wallet.ledger.world import bet, settled, states
from tests.wallet.partner import Trick
from tests.wallet.seamless.world import QUICK, SeamlessWorld, seamless_world
from upcard_wallet.adapters.metrics import PartnerMetrics
from upcard_wallet.adapters.seamless.circuit import Circuit, State
from upcard_wallet.adapters.seamless.partner import Accepted, NotSent, Refused, Unclear, Verdict
from upcard_wallet.domain.events import HoldDeclined

PATIENT = replace(QUICK, down_pause_s=600.0, failures_before_pause=3)
EAGER = replace(QUICK, down_pause_s=0.05, failures_before_pause=3)


class Clock:
    """A time that a test moves on."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def circuit_at(clock: Clock) -> tuple[Circuit, list[State]]:
    """One that opens after three failures, for five seconds."""
    told: list[State] = []
    settings = replace(QUICK, failures_before_pause=3, down_pause_s=5.0)
    return Circuit(settings, changed=told.append, clock=clock, calendar=clock), told


def test_it_opens_after_so_many_failures_in_a_row_and_lets_one_ante_in_after_each_pause() -> None:
    clock = Clock()
    circuit, told = circuit_at(clock)
    for verdict in (NotSent(), Unclear(), Accepted(), NotSent(), Unclear(kind="time_out")):
        circuit.answered(verdict)
    assert circuit.admits()
    assert circuit.failures == 2
    circuit.answered(NotSent())
    assert (circuit.state, circuit.since) == ("open", 100.0)
    assert not circuit.admits()
    clock.now += 5.0
    assert circuit.admits()
    assert not circuit.admits(), "one is the probe"
    circuit.answered(Unclear())
    assert circuit.since == 100.0, "a probe begins nothing anew"
    assert not circuit.admits()
    clock.now += 5.0
    assert circuit.admits()
    clock.now += 5.0
    assert circuit.admits(), "the probe before it never told what came of it"
    circuit.answered(Refused("funds"))
    assert told == ["open", "probing", "open", "probing", "closed"]
    assert circuit.since == 115.0
    assert (circuit.failures, circuit.answered_at, circuit.down) == (0, 115.0, False)


def test_an_outage_is_counted_once_however_often_it_is_probed() -> None:
    metrics = PartnerMetrics()
    for state in ("closed", "open", "probing", "open", "probing", "closed", "open"):
        metrics.circuit("counted-once", state)
    name = "upcard_wallet_partner_circuit_opened_total"
    assert registry().get_sample_value(name, {"operator": "counted-once"}) == 2


@pytest.mark.parametrize(
    "verdict", [Accepted(), Refused("other"), Unclear(contradicts=True, kind="wrong_call")]
)
def test_whatever_is_an_answer_closes_it(verdict: Verdict) -> None:
    clock = Clock()
    circuit, _ = circuit_at(clock)
    for _ in range(9):
        circuit.answered(NotSent())
    circuit.answered(verdict)
    assert circuit.state == "closed"


def test_failures_while_it_is_open_do_not_put_the_next_probe_off() -> None:
    clock = Clock()
    circuit, _ = circuit_at(clock)
    for _ in range(3):
        circuit.answered(NotSent())
    clock.now += 4.0
    circuit.answered(Unclear())
    clock.now += 1.0
    assert circuit.admits()


@pytest.fixture
async def patient(pool: Pool, store: PostgresEventStore) -> AsyncIterator[SeamlessWorld]:
    """Two partners whose circuits stay open for long."""
    async with seamless_world(pool, store, "op1", "op2", settings=PATIENT) as world:
        yield world


async def fail(world: SeamlessWorld, times: int, player: str = "p1") -> None:
    """So many bets fail, one after the other."""
    for number in range(times):
        world.server.script("bet", Trick.BROKEN)
        one = bet((1, "ante", 1), player=player, bet_id=f"failed{number}")
        assert states(await world.place(one)) == ["unknown"]


async def test_new_antes_are_refused_at_once_and_later_wagers_of_running_rounds_are_tried(
    patient: SeamlessWorld,
) -> None:
    await patient.guest(money=100)
    await patient.guest("p2", 100, operator="op2")
    assert states(await patient.place(bet((1, "ante", 10)))) == ["held"]
    await fail(patient, 3)
    asked = len(patient.server.calls)
    for number, wager in enumerate(("ante", "bonus_player", "bonus_dealer")):
        refused = await patient.place(bet((1, wager, 10), bet_id=f"new{number}"))
        assert states(refused) == ["partner_unavailable"]
    last = (await patient.events())[-1]
    assert isinstance(last, HoldDeclined)
    assert last.reason == "partner_unavailable"
    assert len(patient.server.calls) == asked, "nobody was asked"
    assert states(await patient.place(bet((1, "ante", 10), player="p2"))) == ["held"], "others go on"
    patient.server.always("bet", Trick.BROKEN)
    assert states(await patient.place(bet((1, "bet", 20), bet_id="tried"))) == ["unknown"]
    assert len(patient.server.calls) == asked + 1, "it was tried"
    patient.server.always("bet", Trick.HONEST)
    for number, wager in enumerate(("bet", "option_fee", "insurance", "purchase_fee")):
        tried = await patient.place(bet((1, wager, 2), bet_id=f"later{number}"))
        assert states(tried) == ["held"]
    assert states(await patient.place(bet((1, "ante", 10), bet_id="again"))) == ["held"], "it is back"


async def test_one_ante_finds_the_partner_back(pool: Pool, store: PostgresEventStore) -> None:
    async with seamless_world(pool, store, "op1", settings=EAGER) as world:
        await world.guest(money=100)
        await fail(world, 3)
        circuit = world.seamless.circuits["op1"]
        number = 0
        async with asyncio.timeout(60):
            while circuit.down:
                number += 1
                (outcome,) = states(await world.place(bet((1, "ante", 1), bet_id=f"n{number}")))
                assert outcome in ("partner_unavailable", "held")
        assert [state for _, state in world.told.circuits][-3:] == ["open", "probing", "closed"]
        world.start_work()
        await world.agrees_with_partners()


async def test_a_win_that_is_told_closes_it_too(pool: Pool, store: PostgresEventStore) -> None:
    async with seamless_world(pool, store, "op1", settings=EAGER) as world:
        await world.guest(money=100)
        assert states(await world.place(bet((1, "ante", 10)))) == ["held"]
        await world.server.crash()
        for number in range(3):
            outcome = states(await world.place(bet((1, "bet", 1), bet_id=f"n{number}")))
            assert outcome == ["wallet_unavailable"]
        assert world.seamless.circuits["op1"].state == "open"
        await world.hear(("t1.1", settled((1, "ante", 10, 30))))
        await world.server.start()
        world.start_work()
        await world.agrees_with_partners()
        assert world.told.circuits[-1] == ("op1", "closed")
        assert world.server.balances["p1", "EUR"] == 120
