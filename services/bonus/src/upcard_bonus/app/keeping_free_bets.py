"""Granting free bets, taking them back, letting them lapse when their time is over."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final

from eventstore import StreamAppend
from eventstore.postgres import Connection
from upcard_bonus.app.bonus import BonusOffice, Done
from upcard_bonus.app.draft import Draft
from upcard_bonus.app.recording import Origin, moment_of
from upcard_bonus.domain import free_bet as rules
from upcard_bonus.domain.free_bet import FreeBet
from upcard_bonus.domain.free_bet_events import FreeBetEvent, FreeBetGranted
from upcard_bonus.domain.ids import free_bet_stream
from upcard_bonus.domain.refusal import Refused

LONGEST: Final = dt.timedelta(days=400)
"""How long a free bet may last."""


async def grant_free_bet(
    office: BonusOffice, connection: Connection, wanted: FreeBetGranted, origin: Origin
) -> Done[FreeBet | Refused]:
    """`FreeBetGranted`. Granted before with the same values: as it is now, without an event.

    Refusals: `free_bet_exists`, `id_invalid`, `currency_invalid`, `amount_invalid`, `wagers_invalid`,
    `expiry_invalid`.
    """
    events = rules.grant(wanted)
    if isinstance(events, Refused):
        return Done(events)
    state = rules.fold(events)
    assert state is not None, "it begins with its grant"  # noqa: S101 - an invariant of the decision
    found = (await office.free_bets.lock(connection, [wanted.free_bet])).get(wanted.free_bet)
    if found is None:
        lasts = moment_of(wanted.expires_at) - office.recorder.now()
        if not dt.timedelta() < lasts <= LONGEST:
            return Done(Refused("expiry_invalid"))
        if await office.free_bets.add(connection, state):
            draft = Draft(office.recorder)
            draft.tell(free_bet_stream(state.free_bet), events, origin)
            office.watcher.free_bet("FreeBetGranted")
            return Done(state, draft.appends)
        # Another call has granted it in this moment.
        found = (await office.free_bets.lock(connection, [wanted.free_bet])).get(wanted.free_bet)
    same = found is not None and _granted(found) == _granted(state)
    return Done(found if found is not None and same else Refused("free_bet_exists"))


async def revoke_free_bet(
    office: BonusOffice, connection: Connection, name: str, origin: Origin
) -> Done[FreeBet | Refused]:
    """`FreeBetExpired` of what is left; what is staked lapses when it comes back.

    Refusals: `free_bet_unknown`.
    """
    state = (await office.free_bets.lock(connection, [name])).get(name)
    if state is None:
        return Done(Refused("free_bet_unknown"))
    events = rules.expire(state, "revoked")
    return await _end(office, connection, state, events, origin)


async def expire_free_bets(
    office: BonusOffice, connection: Connection, origin: Origin, most: int
) -> Sequence[StreamAppend]:
    """`FreeBetExpired` of free bets whose time is over, at most so many; called until it gives nothing."""
    draft = Draft(office.recorder)
    after = []
    for state in await office.free_bets.lock_due(connection, most):
        events = rules.expire(state, "time")
        after += [one for event in events if (one := rules.evolve(state, event)) is not None]
        draft.tell(free_bet_stream(state.free_bet), events, origin)
        office.watcher.free_bet("FreeBetExpired")
    await office.free_bets.save(connection, after)
    return draft.appends


async def _end(
    office: BonusOffice,
    connection: Connection,
    state: FreeBet,
    events: Sequence[FreeBetEvent],
    origin: Origin,
) -> Done[FreeBet | Refused]:
    draft = Draft(office.recorder)
    for event in events:
        state = rules.evolve(state, event) or state
    await office.free_bets.save(connection, [state])
    draft.tell(free_bet_stream(state.free_bet), events, origin)
    return Done(state, draft.appends)


def _granted(state: FreeBet) -> tuple[object, ...]:
    return state.player, state.currency, state.amount, state.wagers, state.expires_at
