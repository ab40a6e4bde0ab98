"""Opening jackpots and changing their settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

from eventstore.postgres import Connection
from upcard_bonus.app.bonus import BonusOffice, Done
from upcard_bonus.app.draft import Draft
from upcard_bonus.app.pools import Pools
from upcard_bonus.app.ports import TableTaken
from upcard_bonus.app.recording import Origin
from upcard_bonus.domain import jackpot_settings
from upcard_bonus.domain.ids import jackpot_stream
from upcard_bonus.domain.jackpot import Jackpot, fold
from upcard_bonus.domain.jackpot_events import JackpotSettings
from upcard_bonus.domain.refusal import Refused
from upcard_bonus.domain.secret_size import SECRET_BYTES

TABLE_HAS_JACKPOT = Refused("table_has_jackpot")


@dataclass(frozen=True, slots=True)
class OpenJackpot:
    """Open a jackpot with its first seed."""

    jackpot: str
    operator: str
    currency: str
    settings: JackpotSettings


async def open_jackpot(
    office: BonusOffice, connection: Connection, command: OpenJackpot, origin: Origin
) -> Done[Jackpot | Refused]:
    """`JackpotOpened`, `JackpotSeeded`. Opened before with the same values: as it is now, without events.

    Refusals: `jackpot_exists`, `id_invalid`, `currency_invalid`, `table_has_jackpot`, and those of settings.
    """
    draft = Draft(office.recorder)
    secret = office.recorder.random(SECRET_BYTES)
    events = jackpot_settings.open_jackpot(
        command.jackpot, command.operator, command.currency, command.settings, secret
    )
    if isinstance(events, Refused):
        return Done(events)
    state = fold(events)
    assert state is not None, "it begins with its opening"  # noqa: S101 - an invariant of the decision
    try:
        added = await office.jackpots.add(connection, state)
    except TableTaken:
        return Done(TABLE_HAS_JACKPOT)
    if not added:
        found = await office.jackpots.find(connection, command.jackpot)
        same = (
            found is not None
            and OpenJackpot(found.jackpot, found.operator, found.currency, found.settings) == command
        )
        return Done(found if found is not None and same else Refused("jackpot_exists"))
    pools = Pools(office, connection, draft, {})
    await pools.keep_secret(events, secret)
    draft.tell(jackpot_stream(command.jackpot), events, origin)
    return Done(state, draft.appends)


@dataclass(frozen=True, slots=True)
class ChangeJackpot:
    """Give a jackpot other settings."""

    jackpot: str
    settings: JackpotSettings


async def change_jackpot(
    office: BonusOffice, connection: Connection, command: ChangeJackpot, origin: Origin
) -> Done[Jackpot | Refused]:
    """`JackpotChanged`, and a new cycle where it gets a secret size; the same settings again: nothing.

    Refusals: `jackpot_unknown`, `table_has_jackpot`, `must_hit_by_reached`, and those of settings.
    """
    draft = Draft(office.recorder)
    pools = await Pools.locked(office, connection, draft, [command.jackpot])
    kept = pools.kept.get(command.jackpot)
    if kept is None:
        return Done(Refused("jackpot_unknown"))
    secret = office.recorder.random(SECRET_BYTES)
    events = jackpot_settings.change_jackpot(kept.state, command.settings, secret)
    if isinstance(events, Refused):
        return Done(events)
    if not events:
        return Done(kept.state)
    try:
        await office.jackpots.set_tables(connection, replace(kept.state, settings=command.settings))
    except TableTaken:
        return Done(TABLE_HAS_JACKPOT)
    await pools.keep_secret(events, secret)
    pools.apply(kept, events, origin)
    await pools.store()
    return Done(kept.state, draft.appends)
