"""What the history service makes of it: its rounds, its replays, and its views built anew."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from eventstore.postgres import PostgresEventStore
from servicekit.grpc import acting_as
from upcard.history.v1 import history_pb2
from upcard_history.projections import PROJECTIONS
from upcard_history.projections.comparing import compare_projection
from upcard_operate.demo.casino import Casino, staff
from upcard_operate.demo.evidence import RoundEvidence
from upcard_operate.local.fleet import Fleet
from upcard_operate.running import pooled

SEEN_S: Final = 30.0
"""Longest that history may take to see and replay the last round."""
_CALL_S: Final = 20.0
_PAUSE_S: Final = 0.25


async def disagreements_of_history(casino: Casino, rounds: Sequence[RoundEvidence]) -> list[str]:
    """A sentence for each round that history does not know as it was, or replays otherwise."""
    problems: list[str] = []
    deadline = asyncio.get_running_loop().time() + SEEN_S
    with acting_as(staff("auditor-1")):
        for one in rounds:
            found = await _disagreements(casino, one)
            while found and asyncio.get_running_loop().time() < deadline:
                await asyncio.sleep(_PAUSE_S)
                found = await _disagreements(casino, one)
            problems += found
        request = history_pb2.ListDifferencesRequest()
        different = await casino.history.ListDifferences(request, timeout=_CALL_S)
    return problems + [f"history replayed {one.round} otherwise" for one in different.replays]


async def _disagreements(casino: Casino, one: RoundEvidence) -> list[str]:
    name = one.stream.removeprefix("round-")
    answer = await casino.history.GetRound(history_pb2.GetRoundRequest(round=name), timeout=_CALL_S)
    if answer.HasField("refusal"):
        return [f"history does not know {name}: {answer.refusal.reason}"]
    told = answer.round.round
    problems = []
    staked = sum(stake for stake, _ in one.settled.values())
    returned = sum(back for _, back in one.settled.values())
    sums = (sum(total.staked for total in told.totals), sum(total.returned for total in told.totals))
    if sums != (staked, returned):
        problems.append(f"history says {sums} was staked and returned in {name}, not {(staked, returned)}")
    replay = await casino.history.ReplayRound(history_pb2.ReplayRoundRequest(round=name), timeout=_CALL_S)
    if replay.replay.outcome != history_pb2.REPLAY_OUTCOME_AGREED or replay.replay.position != one.events:
        problems.append(f"history's replay of {name}: {' '.join(replay.replay.sentences)}")
    return problems


async def differing_views(fleet: Fleet) -> list[str]:
    """A sentence for each view of history that is not what its log makes of it, when it is built anew."""
    problems = []
    async with pooled(fleet.admin_dsn("history")) as pool, PostgresEventStore(pool) as store:
        for projection in PROJECTIONS:
            found = await compare_projection(store, pool, projection)
            if not found.equal:
                problems.append(
                    f"history's view {found.name} is not what its log says: {found.differences[:3]}"
                )
    return problems
