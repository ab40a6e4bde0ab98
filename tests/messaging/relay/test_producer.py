"""Handing batches over, while the broker's topic is not what it was."""

from __future__ import annotations

from typing import Any, cast

import pytest

from messaging.relay.producer import Batch, Producer
from messaging.topics import TopicUnusable


class Forgetful:
    """A client whose broker has lost the topic, and is just making it anew with few partitions."""

    def __init__(self) -> None:
        self.sent: list[int] = []

    async def partitions_for(self, _: str) -> set[int]:
        return {0, 1}

    async def send_batch(self, _: object, __: str, *, partition: int) -> object:
        self.sent.append(partition)
        return object()


def batch(shard: int) -> Batch:
    return Batch(shard, 0, 1, 10, object())


async def test_a_partition_that_is_not_there_ends_the_connection_and_not_the_service() -> None:
    client = Forgetful()
    producer = Producer(cast("Any", client), "events", "table")
    _ = await producer.send(batch(1))
    with pytest.raises(TopicUnusable, match="events has 2 partitions"):
        _ = await producer.send(batch(2))
    assert client.sent == [1]
