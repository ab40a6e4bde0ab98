"""Looking for what must not be found: in databases, in topics, in bytes of any kind."""

from __future__ import annotations

import base64
from collections.abc import Iterable

import asyncpg
from aiokafka import AIOKafkaConsumer, TopicPartition

from eventstore.streams import shard_of
from messaging.topics import topic_of
from tests.end_to_end.table.play import Table
from tests.end_to_end.table.processes import Casino


async def dumped(dsn: str) -> bytes:
    """Every row of a database, as text; what is binary is in hex there."""
    connection = await asyncpg.connect(dsn)
    try:
        tables = await connection.fetch(
            "SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
            " WHERE c.relkind IN ('r', 'm')"
            " AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')"
        )
        rows: list[str] = []
        for schema, name in tables:
            found = await connection.fetch(f'SELECT t::text FROM "{schema}"."{name}" AS t')  # noqa: S608 - names of the catalogue
            rows += [row[0] for row in found]
        return "\n".join(rows).encode()
    finally:
        await connection.close()


async def published(casino: Casino, table: Table) -> bytes:
    """The records of the shard's partition that holds the round, without those of other rounds.

    Another round that fell to the same shard may be over: its cards are open, and no secrets of this one's.
    """
    own = f"round-{table.round_name}".encode()
    topic = f"{casino.table_settings['UPCARD_KAFKA_NAMESPACE']}.{topic_of('table')}"
    consumer = AIOKafkaConsumer(bootstrap_servers=casino.stack.addresses.kafka_bootstrap)
    await consumer.start()
    try:
        partition = TopicPartition(topic, shard_of(f"round-{table.round_name}"))
        consumer.assign([partition])
        await consumer.seek_to_beginning(partition)
        end = (await consumer.end_offsets([partition]))[partition]
        found = bytearray()
        while await consumer.position(partition) < end:
            for record in (await consumer.getmany(partition, timeout_ms=1_000)).get(partition, []):
                if record.key != own and (record.key or b"").startswith(b"round-"):
                    continue
                headers = b"".join(value for _, value in record.headers)
                found += (record.key or b"") + (record.value or b"") + headers
        return bytes(found)
    finally:
        await consumer.stop()


def found_in(data: bytes, needles: Iterable[bytes]) -> set[bytes]:
    """The needles that are in there, as they are or in hex."""
    return {one for one in needles if one in data or one.hex().encode() in data}


def of_salt(salt: bytes) -> set[bytes]:
    """A salt in all its clothes."""
    text = salt.hex().encode()
    return {salt, text, text.upper(), base64.b64encode(salt)[:-2], base64.urlsafe_b64encode(salt)[:-2]}
