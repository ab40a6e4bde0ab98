"""A tip: the wallet first, then the table's stream; the same dealer and the same tip in each try."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest

from eventstore.postgres import Pool, open_pool
from servicekit.grpc import acting_as
from tests.table.edges.test_correcting import stopping_at
from tests.table.edges.world import PLAYER, TIMEOUT_S, Instance, Played, PlayedTips, failed, open_instance
from upcard.table.v1 import table_pb2 as pb
from upcard_table.app.calls import Done, Recorded, Result, TableCall, TableWork
from upcard_table.domain import commands as c
from upcard_table.domain.events import TipGiven
from upcard_table.domain.state import TableState

OPEN = TableState(table="t1", open=True, dealer="d1")
TIP = pb.TipRequest(request_id="r1", table="t1", currency="EUR", amount=500)


def given(call: TableCall) -> Sequence[Result]:
    """Plays the owner."""
    (work,) = call.works
    assert isinstance(work, TableWork)
    tip = work.command
    assert isinstance(tip, c.RecordTip)
    event = TipGiven(tip.player, tip.currency, tip.amount, tip.transaction, tip.dealer)
    return [Done((Recorded("table-t1", 9, event),), None)]


@pytest.fixture
async def pool(service_database: str) -> AsyncIterator[Pool]:
    """The service's connections."""
    async with await open_pool(service_database, application_name="edges") as opened:
        yield opened


@pytest.fixture
def tips() -> PlayedTips:
    """The wallet, and a table with a dealer."""
    return PlayedTips(known=OPEN)


@pytest.fixture
async def instance(pool: Pool, tips: PlayedTips) -> AsyncIterator[Instance]:
    """An instance that owns t1."""
    async with open_instance(pool, Played(given, {"t1"}), tips) as found:
        yield found


async def test_a_tip_is_posted_and_told(instance: Instance, tips: PlayedTips) -> None:
    with acting_as(PLAYER):
        answer = await instance.table.Tip(TIP, timeout=TIMEOUT_S)
        assert await instance.table.Tip(TIP, timeout=TIMEOUT_S) == answer
    assert answer.given.position == 9
    (tip,) = set(tips.tips)
    assert (tip.player, tip.currency, tip.amount, tip.table, tip.dealer) == ("p1", "EUR", 500, "t1", "d1")
    (call,) = instance.tables.calls
    (work,) = call.works
    assert isinstance(work, TableWork)
    assert work.command == c.RecordTip("p1", "EUR", 500, answer.given.transaction, "d1")


async def test_a_tip_that_was_interrupted_goes_to_the_same_dealer(
    instance: Instance, tips: PlayedTips
) -> None:
    with acting_as(PLAYER), stopping_at("table.tip.posted"):
        await failed(instance.table.Tip(TIP, timeout=TIMEOUT_S))
    tips.known = replace(OPEN, dealer="d2")
    with acting_as(PLAYER):
        answer = await instance.table.Tip(TIP, timeout=TIMEOUT_S)
    assert answer.HasField("given")
    first, second = tips.tips
    assert first == second, "one tip, for the wallet too"


@pytest.mark.parametrize(
    ("state", "slug"),
    [(TableState(), "table_unknown"), (replace(OPEN, dealer=None), "dealer_missing")],
    ids=["no table", "no dealer"],
)
async def test_a_tip_needs_somebody_to_get_it(
    instance: Instance, tips: PlayedTips, state: TableState, slug: str
) -> None:
    tips.known = state
    with acting_as(PLAYER):
        refused = await instance.table.Tip(TIP, timeout=TIMEOUT_S)
        assert refused.refusal.reason == slug
        tips.known = OPEN
        later = await instance.table.Tip(TIP, timeout=TIMEOUT_S)
    assert later.HasField("given"), "nothing was kept"
