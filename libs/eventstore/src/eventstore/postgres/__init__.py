"""The event store on PostgreSQL."""

from eventstore.postgres.append_call import append_in_transaction
from eventstore.postgres.batch_sender import Retrying
from eventstore.postgres.connections import SESSION_LOST, Connection, Pool, SessionLimits, open_pool
from eventstore.postgres.group_appender import AppenderLimits, GroupAppender
from eventstore.postgres.holders import ShardHolder, shard_holders
from eventstore.postgres.periods import (
    NotDetachable,
    Period,
    detach_period,
    ensure_periods,
    months_ahead,
    periods,
)
from eventstore.postgres.store import PostgresEventStore, PostgresPrivateReader, StoreSettings

__all__ = [
    "SESSION_LOST",
    "AppenderLimits",
    "Connection",
    "GroupAppender",
    "NotDetachable",
    "Period",
    "Pool",
    "PostgresEventStore",
    "PostgresPrivateReader",
    "Retrying",
    "SessionLimits",
    "ShardHolder",
    "StoreSettings",
    "append_in_transaction",
    "detach_period",
    "ensure_periods",
    "months_ahead",
    "open_pool",
    "periods",
    "shard_holders",
]
