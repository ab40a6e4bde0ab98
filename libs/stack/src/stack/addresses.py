"""Where a stack's servers are."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from stack.lanes import LaneFacts


@dataclass(frozen=True, slots=True)
class Addresses:
    """What a program needs to reach the servers. The passwords in it are for servers on loopback."""

    postgres_dsn: str
    """The database `upcard`, as the ordinary role that owns it."""
    admin_dsn: str
    """The database `postgres`, as a superuser."""
    kafka_bootstrap: str
    """`host:port` of each broker, with commas."""
    facts: LaneFacts
    postgres_socket_dsn: str | None = None
    """The same as `postgres_dsn` through the Unix socket, where there is one."""
    logs: dict[str, str] = field(default_factory=dict)
    """The log file of each server, where it has one of its own."""

    def as_json(self) -> str:
        """Everything, as one JSON object."""
        return json.dumps(asdict(self), indent=2)

    def as_text(self) -> str:
        """Everything, for a person."""
        facts = self.facts
        lines = [
            f"lane              {facts.lane.value}",
            f"PostgreSQL        {self.postgres_dsn}",
            f"  as superuser    {self.admin_dsn}",
            *([f"  Unix socket     {self.postgres_socket_dsn}"] if self.postgres_socket_dsn else []),
            f"Kafka             {self.kafka_bootstrap}",
            f"  idempotence     {'yes' if facts.idempotent_producer else 'no (InitProducerId is refused)'}",
            f"  kept on disk    {'yes' if facts.broker_keeps_data else 'no (in memory)'}",
            *(f"log               {log}" for log in self.logs.values()),
        ]
        return "\n".join(lines)
