"""Following the other services' events: from Kafka, and over their feeds what Kafka does not bring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eventstore import EventFilter, RecordedEvent, StreamAppend
from eventstore.following import Handler
from eventstore.postgres import Connection, Pool, PostgresEventStore
from messaging.service import Followed, Following
from servicekit.lifecycle import Service
from upcard_gateway.adapters.floor_own_log import OwnLog
from upcard_gateway.adapters.postgres.significant import PostgresBook
from upcard_gateway.adapters.postgres.webhook_queue import PostgresQueue
from upcard_gateway.adapters.postgres.webhook_rounds import PostgresRoundBook
from upcard_gateway.app.significant import TABLE_TYPES, WALLET_WANTED, significant_handler
from upcard_gateway.app.webhook_facts import BONUS_WANTED, TABLE_WANTED
from upcard_gateway.app.webhooks import webhook_handler
from upcard_gateway.settings import GatewaySettings

FOLLOWER: Final = "gateway"
"""Under which positions in other services' logs are noted."""

_TABLE: Final = EventFilter(
    categories=TABLE_WANTED.categories, types=frozenset(TABLE_WANTED.types or ()) | TABLE_TYPES
)


async def follow_services(service: Service[GatewaySettings], pool: Pool, store: PostgresEventStore) -> None:
    """Follow table, bonus and wallet, as the next stages, and then the gateway's own log.

    Their events queue webhooks and are kept where they are significant, exactly once each. Several instances
    share the work by Kafka's groups; positions lie in the transaction of what is queued and kept.
    """
    settings = service.settings
    hooks = webhook_handler(PostgresRoundBook(), PostgresQueue(), settings.sandbox_tables)
    book, thresholds = PostgresBook(), settings.thresholds()
    following = Following(service, settings, pool, store, FOLLOWER)
    both = _one_after_another(hooks, significant_handler(book, "table", thresholds))
    await following.start(Followed("table", settings.table_address, both, _TABLE))
    await following.start(Followed("bonus", settings.bonus_address, hooks, BONUS_WANTED))
    money = significant_handler(book, "wallet", thresholds)
    await following.start(Followed("wallet", settings.wallet_address, money, WALLET_WANTED))
    own = OwnLog(pool, store, significant_handler(book, "gateway", thresholds))
    await service.run("significant events of staff", own.run)


def _one_after_another(first: Handler, second: Handler) -> Handler:
    """Both effects of an event, in one transaction."""

    async def handle(connection: Connection, events: Sequence[RecordedEvent]) -> Sequence[StreamAppend]:
        return [*(await first(connection, events) or ()), *(await second(connection, events) or ())]

    return handle
