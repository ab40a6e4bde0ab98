"""Copies of events that could not be applied, sent to the topic of dead letters: each at least once."""

import asyncio
from collections.abc import Collection

from eventstore.following import dead_letters, note_dead_letters_sent
from eventstore.postgres import Pool
from messaging.broker import BrokerSettings
from messaging.broker_producer import open_producer
from messaging.dead_letters.letters import dead_letter_headers
from messaging.envelope import key_of
from messaging.faults import reach
from messaging.topics import dead_letter_topic_of, topic_of


class DeadLetterSender:
    """Sends what the database says is to be sent; connects to the broker only when there is something."""

    def __init__(  # noqa: PLR0913 - what it works with
        self,
        pool: Pool,
        broker: BrokerSettings,
        follower: str,
        service: str,
        *,
        topic: str | None = None,
        letters_max: int = 100,
        timeout_s: float = 10.0,
    ) -> None:
        self._pool = pool
        self._broker = broker
        self._follower = follower
        self._service = service
        self._topic = dead_letter_topic_of(topic_of(service) if topic is None else topic)
        self._letters_max = letters_max
        self._timeout_s = timeout_s

    async def send(self, shards: Collection[int] | None = None) -> int:
        """Send at most `letters_max` dead letters of these shards (None: all), and note it; returns how many.

        Raises KafkaError, TimeoutError or an error of the database: then some may have been sent, and will be
        sent again.
        """
        async with self._pool.acquire() as connection:
            due = await dead_letters(connection, self._follower, self._service, limit=self._letters_max)
        if shards is not None:
            due = tuple(one for one in due if one.event.shard in shards)
        if not due:
            return 0
        async with open_producer(
            self._broker, start_timeout_s=self._timeout_s, stop_timeout_s=self._timeout_s / 2
        ) as producer:
            async with asyncio.timeout(self._timeout_s):
                sent = [
                    await producer.send(
                        self._topic,
                        letter.event.content,
                        key=key_of(letter.event),
                        partition=letter.event.shard,
                        headers=dead_letter_headers(letter, self._follower, self._service),
                    )
                    for letter in due
                ]
                await asyncio.gather(*sent)
        reach("dead_letters.sent")
        async with self._pool.acquire() as connection:
            await note_dead_letters_sent(connection, self._follower, self._service, due)
        reach("dead_letters.noted")
        return len(due)
