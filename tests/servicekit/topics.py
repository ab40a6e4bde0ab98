"""Topics for tests."""

from __future__ import annotations

from aiokafka.admin import AIOKafkaAdminClient, NewTopic


async def make_topic(bootstrap: str, name: str, partitions: int) -> None:
    """Make a topic."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(name, partitions, 1)])
    finally:
        await admin.close()
