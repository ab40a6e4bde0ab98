"""The servers and all services on one machine, with databases, keys and ports of their own."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from stack import Stack
from stack.ports import HOST, free_ports
from upcard_operate import keys
from upcard_operate.local.process import ServiceProcess
from upcard_operate.options import SERVICES
from upcard_operate.preparing import create_database, database_of, in_database

READY_S: Final = 60.0
"""Longest that the services may take to be ready."""

_ASKS: Final[Mapping[str, tuple[str, ...]]] = {
    "table": ("wallet", "bonus"),
    "wallet": ("table", "bonus"),
    "bonus": ("table",),
    "history": ("table", "wallet", "bonus"),
    "gateway": ("table", "wallet", "bonus", "history"),
}
"""Whom each service calls or follows, by address."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A further instance of the gateway."""

    process: ServiceProcess
    url: str
    """Where it takes calls over HTTP, without a path."""


class Fleet:
    """Databases and services beside a running stack. Use it as a context manager.

    `folder` takes the services' logs. `more` are settings for a service, by its name: what is given there
    goes before what is set here. Everything is made afresh: databases, passwords, keys.
    """

    def __init__(
        self, stack: Stack, folder: Path, *, more: Mapping[str, Mapping[str, str]] | None = None
    ) -> None:
        self.gateway = keys.SigningKey.generate("gateway-1")
        """Vouches for players, dealers and staff, as the gateway would."""
        self.shoe = keys.SigningKey.generate("shoe-1")
        """Vouches for shoe readers."""
        self.passwords = {service: keys.password() for service in SERVICES}
        self._stack = stack
        self._folder = folder
        self._more = more or {}
        self._http_port, *others = free_ports(1 + 2 * len(SERVICES))
        ports = iter(others)
        self._ports = {service: (next(ports), next(ports)) for service in SERVICES}
        self._secrets = keys.service_secrets()
        self._checkpoint_keys = keys.checkpoint_keys()
        self.checkpoints = folder / "checkpoints"
        """Where the checkpoints of all logs lie, beside the keys that sign them."""
        self.processes = {service: self._process(service) for service in SERVICES}
        self.further: list[Instance] = []
        """Instances of the gateway beside the first one."""

    def address(self, service: str) -> str:
        """Where a service takes calls, host:port."""
        return f"{HOST}:{self._ports[service][0]}"

    @property
    def platform_url(self) -> str:
        """Where the gateway takes the calls of platforms, without a path."""
        return f"http://{HOST}:{self._http_port}"

    def dsn(self, service: str) -> str:
        """The address of a service's database, for its own role."""
        return in_database(
            self._stack.databases.admin_dsn,
            database_of(service),
            role=database_of(service),
            password=self.passwords[service],
        )

    def admin_dsn(self, service: str) -> str:
        """The same for the administrator's role."""
        return in_database(self._stack.databases.admin_dsn, database_of(service))

    def environment(self) -> dict[str, str]:
        """What the command `upcard` needs to reach all of it."""
        found = {f"UPCARD_{service.upper()}_ADDRESS": self.address(service) for service in SERVICES}
        found |= {f"UPCARD_{service.upper()}_DSN": self.admin_dsn(service) for service in SERVICES}
        found["UPCARD_KAFKA_BOOTSTRAP"] = self._stack.addresses.kafka_bootstrap
        found["UPCARD_PLATFORM_URL"] = self.platform_url
        found["UPCARD_CHECKPOINT_FOLDER"] = str(self.checkpoints)
        found["UPCARD_CHECKPOINT_KEY_FILE"] = str(self._write_checkpoint_keys())
        found["UPCARD_SIGNING_KEY_ID"] = self.gateway.key_id
        found["UPCARD_SIGNING_KEY"] = self.gateway.pem()
        return found

    def __enter__(self) -> Self:
        """Make the databases and start all services. Raises ServiceFailed; whatever ran is stopped then."""
        asyncio.run(self._create_databases())
        with contextlib.ExitStack() as undo:
            undo.callback(self.stop)
            for process in self.processes.values():
                process.start()
            for process in self.processes.values():
                process.until_ready(READY_S)
            undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start_gateway(self) -> Instance:
        """Start one more instance of the gateway, on the same database, with ports of its own.

        Raises ServiceFailed. It ends with the others.
        """
        http_port, port, metrics_port = free_ports(3)
        name = f"gateway-{len(self.further) + 2}"
        settings = {
            **self._settings("gateway"),
            **self._more.get("gateway", {}),
            "UPCARD_INSTANCE": name,
            "UPCARD_GRPC__PORT": str(port),
            "UPCARD_METRICS_PORT": str(metrics_port),
            "UPCARD_HTTP_PORT": str(http_port),
        }
        process = ServiceProcess(name, "upcard_gateway", settings, self._folder, metrics_port=metrics_port)
        made = Instance(process, f"http://{HOST}:{http_port}")
        self.further.append(made)
        process.start()
        process.until_ready(READY_S)
        return made

    def stop(self) -> dict[str, int | None]:
        """Stop all services in order; their exit statuses."""
        for one in reversed(self.further):
            one.process.stop()
        return {service: self.processes[service].stop() for service in reversed(SERVICES)}

    def _write_checkpoint_keys(self) -> Path:
        """The public keys of all logs, one a line."""
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        path = self.checkpoints / "keys"
        lines = (
            keys.checkpoint_key(keys.local_origin(name), seed) for name, seed in self._checkpoint_keys.items()
        )
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    async def _create_databases(self) -> None:
        for service in SERVICES:
            await create_database(self._stack.databases.admin_dsn, service, self.passwords[service])

    def _process(self, service: str) -> ServiceProcess:
        settings = {**self._settings(service), **self._more.get(service, {})}
        return ServiceProcess(
            service, f"upcard_{service}", settings, self._folder, metrics_port=self._ports[service][1]
        )

    def _settings(self, service: str) -> dict[str, str]:
        facts = self._stack.facts
        port, metrics_port = self._ports[service]
        found = {
            "UPCARD_INSTANCE": f"{service}-1",
            "UPCARD_DSN": self.dsn(service),
            "UPCARD_KAFKA_BOOTSTRAP": self._stack.addresses.kafka_bootstrap,
            "UPCARD_KAFKA_IDEMPOTENT_PRODUCER": str(facts.idempotent_producer),
            "UPCARD_KAFKA_REPLICAS": str(facts.replication_factor),
            "UPCARD_KAFKA_REPLICAS_IN_SYNC": str(facts.min_insync_replicas),
            "UPCARD_KAFKA_FETCH_WAIT_MS": "100",
            "UPCARD_GRPC__PORT": str(port),
            "UPCARD_METRICS_PORT": str(metrics_port),
            "UPCARD_TRUSTED_KEYS": f"{self.gateway.trusted()},{self.shoe.trusted('dealer')}",
            "UPCARD_CHECKPOINT_ORIGIN": keys.local_origin(service),
            "UPCARD_CHECKPOINT_KEYS": self._checkpoint_keys[service],
            "UPCARD_CHECKPOINT_FOLDER": str(self.checkpoints),
        }
        found |= {f"UPCARD_{other.upper()}_ADDRESS": self.address(other) for other in _ASKS[service]}
        if service == "gateway":
            found |= {
                "UPCARD_HTTP_PORT": str(self._http_port),
                "UPCARD_PUBLIC_URL": self.platform_url,
                "UPCARD_SIGNING_KEY_ID": self.gateway.key_id,
                "UPCARD_SIGNING_KEY": self.gateway.pem(),
                "UPCARD_METRICS_ADDRESSES": json.dumps(
                    {name: [f"{HOST}:{metrics}"] for name, (_, metrics) in self._ports.items()}
                ),
            }
        return found | self._secrets[service]
