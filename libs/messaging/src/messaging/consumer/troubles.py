"""Which errors pass by themselves, so that whatever raised them is simply tried again."""

from typing import Final

import asyncpg
from aiokafka.errors import KafkaError

from eventstore.errors import HistoryDetached, LogBroken
from eventstore.following import DatabaseAway
from eventstore.postgres import SESSION_LOST
from messaging.feed import FeedError

PASSING: Final = (
    FeedError,
    # Of a feed that is a log at hand; it may be mended or attached again.
    HistoryDetached,
    LogBroken,
    DatabaseAway,
    asyncpg.PostgresError,
    *SESSION_LOST,
    KafkaError,
)
"""Errors of the feed, the database and the broker. Everything else is a defect, and ends the consumer."""
