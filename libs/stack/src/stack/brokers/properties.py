"""How our Kafka is configured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from stack.ports import HOST


class Member(Protocol):
    """What of a cluster's member stands in the configuration."""

    @property
    def id(self) -> int:
        """Its number, from 1."""

    @property
    def port(self) -> int:
        """Where clients and other brokers reach it."""

    @property
    def controller_port(self) -> int:
        """Where controllers reach each other."""


def server_properties(node: Member, nodes: Sequence[Member], data: Path) -> str:
    """The text of one server's `server.properties`."""
    replicas = len(nodes)
    insync = 2 if replicas > 2 else 1
    return f"""\
# Written at each start by the stack; changes are lost.
process.roles=broker,controller
node.id={node.id}
controller.quorum.bootstrap.servers={",".join(f"{HOST}:{member.controller_port}" for member in nodes)}
listeners=BROKER://{HOST}:{node.port},CONTROLLER://{HOST}:{node.controller_port}
advertised.listeners=BROKER://{HOST}:{node.port},CONTROLLER://{HOST}:{node.controller_port}
listener.security.protocol.map=BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=BROKER
controller.listener.names=CONTROLLER
log.dirs={data}

# Topics are made by code, never by a typing error.
auto.create.topics.enable=false
default.replication.factor={replicas}
min.insync.replicas={insync}
offsets.topic.replication.factor={replicas}
transaction.state.log.replication.factor={replicas}
transaction.state.log.min.isr={insync}
share.coordinator.state.topic.replication.factor={replicas}
share.coordinator.state.topic.min.isr={insync}

# Quick on a small machine: few internal partitions, no waiting for a group's other members, a dead broker
# soon noticed.
offsets.topic.num.partitions=4
transaction.state.log.num.partitions=4
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=3000
num.network.threads=2
num.io.threads=4
log.cleaner.dedupe.buffer.size=4194304
"""
