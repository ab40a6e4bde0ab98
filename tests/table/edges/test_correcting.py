"""Two people correct a round; the database keeps what they said, the table's owner does it once."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import grpc
import pytest

from eventstore import faults
from eventstore.postgres import Pool, open_pool
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.refusal import refuse
from servicekit.grpc import Actor, ActorKind, acting_as
from tests.table.edges.world import (
    MANAGER,
    SECOND,
    TIMEOUT_S,
    Instance,
    Played,
    PlayedTips,
    failed,
    open_instance,
)
from upcard.table.v1 import table_pb2 as pb
from upcard_table.app.calls import Done, Recorded, Refused, Result, RoundWork, TableCall


@dataclass
class Owner:
    """Plays the owner of table t1; refuses while `refuses` says so."""

    refuses: bool = False
    commands: list[c.Resettle] = field(default_factory=list)

    def answer(self, call: TableCall) -> Sequence[Result]:
        """See `Played`."""
        (work,) = call.works
        assert isinstance(work, RoundWork)
        assert isinstance(work.command, c.Resettle)
        self.commands.append(work.command)
        if self.refuses:
            return [Refused(refuse("round_not_settled", "it runs"))]
        decided = e.CorrectionDecided(1, "wrong_result", "staff:m1", "staff:m2", refund=True)
        return [Done((Recorded("round-t1.3", 50, decided),), 3)]


@pytest.fixture
def owner() -> Owner:
    """The owner of t1."""
    return Owner()


@pytest.fixture
async def pool(service_database: str) -> AsyncIterator[Pool]:
    """The service's connections."""
    async with await open_pool(service_database, application_name="edges") as opened:
        yield opened


@pytest.fixture
async def instance(pool: Pool, owner: Owner) -> AsyncIterator[Instance]:
    """An instance that owns t1."""
    async with open_instance(pool, Played(owner.answer, {"t1"}), PlayedTips()) as found:
        yield found


def proposing(request_id: str = "r1", **more: Any) -> pb.ProposeResettlementRequest:
    """Asks for a refund of round 3."""
    fields: dict[str, Any] = {"reason": "wrong_result", "refund": True, **more}
    return pb.ProposeResettlementRequest(request_id=request_id, table="t1", round=3, **fields)


def deciding(
    proposal: pb.Resettlement, request_id: str, *, approve: bool = True
) -> pb.DecideResettlementRequest:
    """A word on a proposal."""
    return pb.DecideResettlementRequest(
        request_id=request_id, table="t1", resettlement=proposal.resettlement, approve=approve
    )


async def proposed(instance: Instance) -> pb.Resettlement:
    """A proposal of the first manager."""
    with acting_as(MANAGER):
        answer = await instance.table.ProposeResettlement(proposing(), timeout=TIMEOUT_S)
    assert answer.resettlement.state == pb.RESETTLEMENT_STATE_PROPOSED, answer
    return answer.resettlement


async def test_one_proposes_and_another_approves(instance: Instance, owner: Owner) -> None:
    proposal = await proposed(instance)
    assert (proposal.proposer, proposal.round, proposal.refund) == ("staff:m1", 3, True)
    with acting_as(MANAGER):
        own = await instance.table.DecideResettlement(deciding(proposal, "r2"), timeout=TIMEOUT_S)
    assert own.refusal.reason == "two_people_needed"
    assert not owner.commands
    with acting_as(SECOND):
        word = deciding(proposal, "r3")
        approved = await instance.table.DecideResettlement(word, timeout=TIMEOUT_S)
        assert await instance.table.DecideResettlement(word, timeout=TIMEOUT_S) == approved
        again = await instance.table.DecideResettlement(deciding(proposal, "r4"), timeout=TIMEOUT_S)
        rejected = await instance.table.DecideResettlement(
            deciding(proposal, "r5", approve=False), timeout=TIMEOUT_S
        )
    assert approved.resettlement.state == pb.RESETTLEMENT_STATE_APPROVED
    assert approved.resettlement.decided_by == "staff:m2"
    assert again == approved
    assert rejected.refusal.reason == "resettlement_decided"
    assert dict(rejected.refusal.data) == {"state": "approved", "decided_by": "staff:m2"}
    assert owner.commands == [c.Resettle("wrong_result", "staff:m1", "staff:m2", refund=True)]


async def test_one_that_the_rules_refuse_stays_proposed(instance: Instance, owner: Owner) -> None:
    proposal = await proposed(instance)
    owner.refuses = True
    with acting_as(SECOND):
        refused = await instance.table.DecideResettlement(deciding(proposal, "r2"), timeout=TIMEOUT_S)
        owner.refuses = False
        done = await instance.table.DecideResettlement(deciding(proposal, "r3"), timeout=TIMEOUT_S)
    assert refused.refusal.reason == "round_not_settled"
    assert done.resettlement.state == pb.RESETTLEMENT_STATE_APPROVED
    assert len(owner.commands) == 2


async def test_a_rejected_one_is_over(instance: Instance, owner: Owner) -> None:
    proposal = await proposed(instance)
    with acting_as(MANAGER):
        rejected = await instance.table.DecideResettlement(
            deciding(proposal, "r2", approve=False), timeout=TIMEOUT_S
        )
    assert rejected.resettlement.state == pb.RESETTLEMENT_STATE_REJECTED
    with acting_as(SECOND):
        late = await instance.table.DecideResettlement(deciding(proposal, "r3"), timeout=TIMEOUT_S)
    assert late.refusal.reason == "resettlement_decided"
    assert dict(late.refusal.data) == {"state": "rejected", "decided_by": "staff:m1"}
    assert not owner.commands


@pytest.mark.parametrize("point", ["table.resettle.approved", "table.resettle.corrected"])
async def test_a_word_that_was_interrupted_is_ended_by_the_same_word(
    instance: Instance, owner: Owner, point: str
) -> None:
    """As if the process had died there: nothing after that point has happened."""
    proposal = await proposed(instance)
    word = deciding(proposal, "r2")
    with acting_as(SECOND), stopping_at(point):
        assert await failed(instance.table.DecideResettlement(word, timeout=TIMEOUT_S)) == (
            grpc.StatusCode.INTERNAL,
            "internal",
        )
    with acting_as(MANAGER):
        other = deciding(proposal, "r3", approve=False)
        late = await instance.table.DecideResettlement(other, timeout=TIMEOUT_S)
        assert dict(late.refusal.data) == {"state": "approving", "decided_by": "staff:m2"}
    with acting_as(SECOND):
        done = await instance.table.DecideResettlement(word, timeout=TIMEOUT_S)
    assert done.resettlement.state == pb.RESETTLEMENT_STATE_APPROVED
    assert len(owner.commands) == 1


class _StoppedError(Exception):
    """The test stops here."""


@contextlib.contextmanager
def stopping_at(point: str) -> Iterator[None]:
    """Within the context, nothing gets beyond the point."""

    def stop(reached: str) -> None:
        if reached == point:
            raise _StoppedError

    with faults.arm(stop):
        yield


@pytest.mark.parametrize(
    ("wrong", "slug"),
    [
        ({"reason": "dealer_mistake", "refund": False}, "correction_unclear"),
        ({"refund": False, "cards": [pb.PlacedCard(place="dealer.1", card="As")]}, "refund_missing"),
        ({"cards": [pb.PlacedCard(place="dealer.1", card="As")]}, "correction_unclear"),
    ],
    ids=["neither", "wrong result without a refund", "both"],
)
async def test_a_correction_says_one_thing(instance: Instance, wrong: dict[str, Any], slug: str) -> None:
    with acting_as(MANAGER):
        answer = await instance.table.ProposeResettlement(proposing(**wrong), timeout=TIMEOUT_S)
    assert answer.refusal.reason == slug


async def test_who_may_propose_may_not_decide(instance: Instance) -> None:
    proposal = await proposed(instance)
    with acting_as(Actor(ActorKind.STAFF, "s1", frozenset({"support"}))):
        proposing_too = await instance.table.ProposeResettlement(proposing("r9"), timeout=TIMEOUT_S)
        denied = await failed(instance.table.DecideResettlement(deciding(proposal, "r2"), timeout=TIMEOUT_S))
    assert proposing_too.HasField("resettlement")
    assert denied == (grpc.StatusCode.PERMISSION_DENIED, "role_missing")


async def test_the_database_knows_that_it_takes_two(instance: Instance, pool: Pool) -> None:
    await proposed(instance)
    alone = "UPDATE tables.resettlements SET state = 'approved', decided_by = proposer, decided_at = now()"
    with pytest.raises(asyncpg.CheckViolationError):
        await pool.execute(alone)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await pool.execute("UPDATE tables.resettlements SET proposer = 'staff:x'")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await pool.execute("DELETE FROM tables.resettlements")
