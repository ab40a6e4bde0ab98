"""The event feed: a service's log, for other services."""

from messaging.feed.client import FEED, GrpcFeed
from messaging.feed.log_feed import Ends, LogFeed, PostgresEnds, ReaderEnds
from messaging.feed.port import (
    LARGEST_PAGE_EVENTS,
    PAGE_BYTES,
    PAGE_EVENTS,
    Feed,
    FeedBroken,
    FeedError,
    FeedHistoryDetached,
    FeedRefused,
    FeedUnavailable,
)
from messaging.feed.server import EventFeedServer, exposed_feed

__all__ = [
    "FEED",
    "LARGEST_PAGE_EVENTS",
    "PAGE_BYTES",
    "PAGE_EVENTS",
    "Ends",
    "EventFeedServer",
    "Feed",
    "FeedBroken",
    "FeedError",
    "FeedHistoryDetached",
    "FeedRefused",
    "FeedUnavailable",
    "GrpcFeed",
    "LogFeed",
    "PostgresEnds",
    "ReaderEnds",
    "exposed_feed",
]
