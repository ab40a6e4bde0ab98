"""Which servers a lane consists of. The only place that knows all lanes."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from stack.brokers.embedded import EmbeddedBroker
from stack.brokers.kafka import KafkaCluster
from stack.lanes import Lane, Settings
from stack.local.server import LocalServer
from stack.postgres.databases import accepts, dsn
from stack.postgres.server import SUPERUSER, PostgresServer
from stack.servers import Server, SomeonesPostgres

MAINTENANCE_DATABASE = "postgres"


class Cluster(Protocol):
    """The brokers of a lane, together."""

    @property
    def brokers(self) -> tuple[Server, ...]:
        """Each of them; complete once started."""

    @property
    def bootstrap(self) -> str:
        """Where clients find them."""

    def start(self) -> None:
        """Start all that do not run."""

    def stop(self) -> None:
        """Stop all."""


@dataclass(frozen=True, slots=True)
class Lone:
    """A cluster of one broker."""

    broker: Server

    @property
    def brokers(self) -> tuple[Server, ...]:
        """The one."""
        return (self.broker,)

    @property
    def bootstrap(self) -> str:
        """Its address."""
        return self.broker.address

    def start(self) -> None:
        """Start it."""
        self.broker.start()

    def stop(self) -> None:
        """Stop it."""
        self.broker.stop()


@dataclass(frozen=True, slots=True)
class Parts:
    """The servers of a lane, not yet started."""

    postgres: Server
    cluster: Cluster
    admin_dsn: Callable[[], str]
    """The superuser's address, known once PostgreSQL runs."""
    socket_folder: Callable[[], str | None]
    logs: Callable[[], dict[str, str]]
    dispose: Callable[[], None]
    """After `stop`: take away what would outlast the stack."""


def assemble(settings: Settings, folder: Path, *, kept: bool) -> Parts:
    """The servers of a lane, in a folder; `kept` when the folder outlives this run."""
    match settings.lane:
        case Lane.EMBEDDED:
            return _on_this_machine(settings, folder, Lone(EmbeddedBroker(folder / "broker")), kept=kept)
        case Lane.NATIVE:
            return _on_this_machine(
                settings, folder, KafkaCluster(folder / "kafka", settings.brokers), kept=kept
            )
        case Lane.CONTAINERS:
            return _in_containers()


def _on_this_machine(settings: Settings, folder: Path, cluster: Lone | KafkaCluster, *, kept: bool) -> Parts:
    def broker_logs() -> dict[str, str]:
        return {broker.name: str(broker.log) for broker in cluster.brokers if isinstance(broker, LocalServer)}

    if settings.postgres_dsn is not None:
        theirs = settings.postgres_dsn
        return Parts(
            postgres=SomeonesPostgres(theirs),
            cluster=cluster,
            admin_dsn=lambda: theirs,
            socket_folder=lambda: None,
            logs=broker_logs,
            dispose=lambda: None,
        )
    postgres = PostgresServer(folder / "postgresql", kept=kept)
    return Parts(
        postgres=postgres,
        cluster=cluster,
        admin_dsn=lambda: dsn(SUPERUSER, postgres.superuser_password, postgres.address, MAINTENANCE_DATABASE),
        socket_folder=lambda: str(postgres.socket_folder),
        logs=lambda: {postgres.name: str(postgres.log), **broker_logs()},
        dispose=lambda: None,
    )


def _in_containers() -> Parts:
    from stack.brokers.readiness import brokers_in_cluster  # noqa: PLC0415 - this lane alone
    from stack.containers import images  # noqa: PLC0415 - this lane alone
    from stack.containers.server import ContainerServer  # noqa: PLC0415 - testcontainers is optional

    password = secrets.token_urlsafe(24)

    def admin_dsn_at(address: str) -> str:
        return dsn(SUPERUSER, password, address, MAINTENANCE_DATABASE)

    postgres = ContainerServer(lambda _port: images.postgres(password), lambda at: accepts(admin_dsn_at(at)))
    kafka = ContainerServer(images.kafka, lambda at: brokers_in_cluster(at) == 1)

    def dispose() -> None:
        postgres.wipe()
        kafka.wipe()

    return Parts(
        postgres=postgres,
        cluster=Lone(kafka),
        admin_dsn=lambda: admin_dsn_at(postgres.address),
        socket_folder=lambda: None,
        logs=dict,
        dispose=dispose,
    )
