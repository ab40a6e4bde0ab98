"""The container lane on an engine that only notes what it is asked; `make containers` needs a real one."""

from __future__ import annotations

from typing import Any

import pytest

from stack import Lane, Stack, StackError, assembly
from stack.containers import images
from stack.containers import server as container_server
from stack.containers.server import ContainerServer


class Noted:
    """A container that is no container: its status, and what it was asked."""

    made: list[Noted] = []  # noqa: RUF012 - emptied before each test

    def __init__(self, image: str, **options: Any) -> None:
        self.image, self.options, self.status = image, options, "created"
        self.environment: dict[str, str] = {}
        self.command: list[str] = []
        self.ports: dict[str, Any] = {}
        self.asked: list[str] = []
        Noted.made.append(self)

    def with_env(self, name: str, value: str) -> None:
        self.environment[name] = value

    def with_command(self, command: list[str]) -> None:
        self.command = command

    def get_wrapped_container(self) -> Noted:
        return self

    def reload(self) -> None:
        """The status is always the newest."""

    def start(self) -> Noted:
        return self._become("running", "start")

    def stop(self, timeout: int | None = None) -> None:
        self._become("removed" if timeout is None else "exited", "remove" if timeout is None else "stop")

    def kill(self) -> None:
        self._become("exited", "kill")

    def pause(self) -> None:
        self._become("paused", "pause")

    def unpause(self) -> None:
        self._become("running", "unpause")

    def logs(self, tail: int) -> bytes:
        return f"the last {tail} lines".encode()

    def _become(self, status: str, asked: str) -> Noted:
        self.status = status
        self.asked.append(asked)
        return self


@pytest.fixture(autouse=True)
def _engine(monkeypatch: pytest.MonkeyPatch) -> None:
    Noted.made.clear()
    monkeypatch.setattr(container_server, "DockerContainer", Noted)


def test_a_container_is_bounded_on_loopback_and_back_at_its_port() -> None:
    kafka = ContainerServer(images.kafka, lambda _address: True)
    kafka.start()
    (made,) = Noted.made
    assert (made.image, made.options) == (images.KAFKA_IMAGE, {"mem_limit": images.kafka(1).memory_bytes})
    assert made.ports == {"9092/tcp": ("127.0.0.1", kafka.port)}
    assert made.environment == images.kafka(kafka.port).environment
    assert kafka.address == f"127.0.0.1:{kafka.port}"
    kafka.start()
    seen = []
    for act in (kafka.pause, kafka.resume, kafka.kill, kafka.start):
        act()
        seen.append(kafka.running)
    assert seen == [True, True, False, True]
    kafka.restart()
    assert made.asked == ["start", "pause", "unpause", "kill", "start", "stop", "start"]
    kafka.wipe()
    kafka.start()
    assert made.asked[-1] == "remove"
    assert len(Noted.made) == 2
    assert Noted.made[1].ports == made.ports


def test_a_container_that_does_not_serve_shows_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container_server, "START_DEADLINE_S", 0.01)
    postgres = ContainerServer(lambda _port: images.postgres("secret"), lambda _address: False)
    with pytest.raises(
        StackError, match=r"postgresql \(postgres:18\) did not start; its log ends:\nthe last 25"
    ):
        postgres.start()
    assert Noted.made[0].environment["POSTGRES_PASSWORD"] == "secret"  # noqa: S105 - that of the line above
    assert Noted.made[0].command[0] == "postgres"


def test_the_lane_starts_both_and_takes_both_away(
    monkeypatch: pytest.MonkeyPatch, private_stack: Stack
) -> None:
    monkeypatch.setattr("stack.stack.require", lambda _lane: None)
    monkeypatch.setattr(assembly, "accepts", lambda _dsn: True)
    monkeypatch.setattr("stack.brokers.readiness.brokers_in_cluster", lambda _address: 1)
    monkeypatch.setattr(
        assembly, "dsn", lambda *_: private_stack.addresses.admin_dsn
    )  # a server that does answer
    with Stack(Lane.CONTAINERS) as containers:
        assert {made.image for made in Noted.made} == {images.POSTGRES_IMAGE, images.KAFKA_IMAGE}
        assert containers.facts.idempotent_producer
        assert containers.addresses.kafka_bootstrap == containers.broker.address
        assert containers.dead == []
    assert [made.status for made in Noted.made] == ["removed", "removed"]
