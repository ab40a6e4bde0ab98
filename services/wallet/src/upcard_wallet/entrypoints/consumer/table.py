"""The table's events: rounds that are staked, settled, cancelled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from eventstore import EventFilter, RecordedEvent, StreamAppend
from eventstore.following import Handler
from eventstore.postgres import Connection
from rules_core.round.codec import VERSIONS, event_of
from upcard_wallet.app.follow_rounds import FOLLOWED, RoundFact, follow_rounds
from upcard_wallet.app.wallet import Wallet
from upcard_wallet.entrypoints.consumer.reading import content_of, decoded, known

TABLE_EVENTS: Final = EventFilter(categories=frozenset({"round"}), types=FOLLOWED)
"""Which of the table's events mean money."""

_STREAM: Final = "round-"


def table_handler(wallet: Wallet) -> Handler:
    """A handler of `eventstore.following`: what `app.follow_rounds` does, for recorded events."""

    async def handle(connection: Connection, events: Sequence[RecordedEvent]) -> Sequence[StreamAppend]:
        facts = [fact for event in events if (fact := _fact(event)) is not None]
        return await follow_rounds(wallet, connection, facts)

    return handle


def _fact(event: RecordedEvent) -> RoundFact | None:
    if event.type not in FOLLOWED or not event.stream.startswith(_STREAM):
        return None
    content = content_of(event)
    known(content, VERSIONS[content.type])
    return RoundFact(
        event.stream.removeprefix(_STREAM),
        UUID(content.event_id),
        content.correlation_id,
        decoded(content, lambda payload: event_of(content.type, content.version, payload)),
    )
