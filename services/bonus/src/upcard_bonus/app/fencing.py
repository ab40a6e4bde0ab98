"""Fences: set before a round is undone, lifted by its correction, by hand, or when their time is over."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from eventstore import StreamAppend
from eventstore.postgres import Connection
from upcard_bonus.app.bonus import BonusOffice, Done
from upcard_bonus.app.draft import Draft
from upcard_bonus.app.pools import Pools
from upcard_bonus.app.recording import Origin, instant_text
from upcard_bonus.domain.fencing import fence
from upcard_bonus.domain.ids import is_round, table_of
from upcard_bonus.domain.refusal import Refused


@dataclass(frozen=True, slots=True)
class FencedJackpot:
    """A pool that is fenced for a round."""

    jackpot: str
    hit_followed: bool
    """Whether another round's hit has followed: then the house funds the difference."""
    expires_at: dt.datetime


async def fence_round(
    office: BonusOffice, connection: Connection, round_name: str, lasts: dt.timedelta, origin: Origin
) -> Done[Sequence[FencedJackpot] | Refused]:
    """`JackpotFenced` for each jackpot of the round; a fence that stands is left as it is.

    A round that has not been seen here yet is fenced by what its table contributes to now. Refusals:
    `round_invalid`.
    """
    if not is_round(round_name):
        return Done(Refused("round_invalid"))
    record = (await office.rounds.find(connection, [round_name])).get(round_name)
    if record is not None:
        names: Sequence[str] = record.jackpots
    else:
        table = table_of(round_name)
        names = (await office.jackpots.of_tables(connection, [table])).get(table, ())
    draft = Draft(office.recorder)
    pools = await Pools.locked(office, connection, draft, names)
    expires_at = office.recorder.now() + lasts
    standing = await office.jackpots.fences_of(connection, round_name)
    await office.jackpots.add_fences(connection, pools.kept.keys(), round_name, expires_at)
    fenced = []
    for name, kept in sorted(pools.kept.items()):
        before = await office.jackpots.pool_round(connection, name, round_name)
        followed = False
        if before is not None:
            _, followed = await office.jackpots.since(connection, name, before.place)
        events = fence(kept.state, round_name, instant_text(expires_at), hit_followed=followed)
        pools.apply(kept, events, origin)
        fenced.append(FencedJackpot(name, followed, standing.get(name, expires_at)))
    await pools.store()
    return Done(fenced, draft.appends)


async def lift_fence(
    office: BonusOffice, connection: Connection, round_name: str, origin: Origin
) -> Done[Sequence[str]]:
    """`JackpotFenceLifted` for each fence of the round; rounds that waited follow."""
    standing = await office.jackpots.fences_of(connection, round_name)
    draft = Draft(office.recorder)
    pools = await Pools.locked(office, connection, draft, standing.keys())
    lifted = []
    for name in sorted(pools.kept):
        if pools.lift(name, round_name, "lifted", origin):
            lifted.append(name)
        await pools.drain(name)
    await pools.store()
    return Done(lifted, draft.appends)


async def end_fences(
    office: BonusOffice, connection: Connection, origin: Origin, most: int
) -> Sequence[StreamAppend]:
    """Lift fences whose time is over, and let rounds through that wait for nothing, a bounded number of each.

    Called from time to time, until it gives nothing.
    """
    expired = await office.jackpots.expired_fences(connection, most)
    names = {name for name, _ in expired} | set(await office.jackpots.unfenced_waiting(connection, most))
    if not names:
        return ()
    draft = Draft(office.recorder)
    pools = await Pools.locked(office, connection, draft, names)
    for name, round_name in expired:
        pools.lift(name, round_name, "expired", origin)
    for name in sorted(pools.kept):
        await pools.drain(name)
    await pools.store()
    return draft.appends
