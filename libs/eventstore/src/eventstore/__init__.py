"""An event store on PostgreSQL: gapless shards, hash chains, group commit.

Subscriptions that miss nothing.
"""

from eventstore.errors import (
    AppenderClosed,
    AppendFailed,
    DeadlineExceeded,
    EventIdReused,
    EventStoreError,
    HistoryDetached,
    InvalidAppend,
    LogBroken,
    OutcomeUnknown,
    Overloaded,
    PrivatePartUnreadable,
    ShardBusy,
    UnknownKey,
    VersionConflict,
)
from eventstore.events import (
    EVERYTHING,
    Appended,
    EventFilter,
    Expect,
    Expected,
    NewEvent,
    RecordedEvent,
    ShardPage,
    StreamAppend,
    StreamHead,
)
from eventstore.port import Appender, EventStore, PrivateReader, Reader
from eventstore.private import Keyring
from eventstore.streams import SHARDS, category_of, shard_of

__all__ = [
    "EVERYTHING",
    "SHARDS",
    "AppendFailed",
    "Appended",
    "Appender",
    "AppenderClosed",
    "DeadlineExceeded",
    "EventFilter",
    "EventIdReused",
    "EventStore",
    "EventStoreError",
    "Expect",
    "Expected",
    "HistoryDetached",
    "InvalidAppend",
    "Keyring",
    "LogBroken",
    "NewEvent",
    "OutcomeUnknown",
    "Overloaded",
    "PrivatePartUnreadable",
    "PrivateReader",
    "Reader",
    "RecordedEvent",
    "ShardBusy",
    "ShardPage",
    "StreamAppend",
    "StreamHead",
    "UnknownKey",
    "VersionConflict",
    "category_of",
    "shard_of",
]
