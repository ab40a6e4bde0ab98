"""Following the other services' events: from Kafka, and over their feeds what Kafka does not bring."""

from __future__ import annotations

from typing import Final

from eventstore.postgres import Pool, PostgresEventStore
from messaging.service import Followed, Following
from servicekit.lifecycle import Service
from upcard_gateway.adapters.postgres.webhook_queue import PostgresQueue
from upcard_gateway.adapters.postgres.webhook_rounds import PostgresRoundBook
from upcard_gateway.app.webhook_facts import BONUS_WANTED, TABLE_WANTED
from upcard_gateway.app.webhooks import webhook_handler
from upcard_gateway.settings import GatewaySettings

FOLLOWER: Final = "gateway"
"""Under which positions in other services' logs are noted."""


async def follow_services(service: Service[GatewaySettings], pool: Pool, store: PostgresEventStore) -> None:
    """Follow table and bonus, as the next stages: their events queue webhooks, exactly once each.

    Several instances share the work by Kafka's groups; positions lie in the transaction of what is queued.
    """
    settings = service.settings
    handler = webhook_handler(PostgresRoundBook(), PostgresQueue(), settings.sandbox_tables)
    following = Following(service, settings, pool, store, FOLLOWER)
    await following.start(Followed("table", settings.table_address, handler, TABLE_WANTED))
    await following.start(Followed("bonus", settings.bonus_address, handler, BONUS_WANTED))
