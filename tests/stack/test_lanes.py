"""One setting chooses the lane; one that cannot run says so in one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stack import Lane, LaneUnavailableError, Settings, Stack, StackError, why_unavailable
from stack.brokers import jars
from stack.brokers.jars import kafka_jars, pom
from stack.lanes import require


def test_without_a_setting_the_lane_is_embedded() -> None:
    assert Settings.from_environment({}) == Settings(Lane.EMBEDDED, 1, None)
    assert Settings.from_environment({"UPCARD_LANE": "", "UPCARD_BROKERS": ""}) == Settings()


def test_the_environment_chooses() -> None:
    chosen = {
        "UPCARD_LANE": "native",
        "UPCARD_BROKERS": "3",
        "UPCARD_POSTGRES_DSN": "postgresql://a@b/c",
    }
    assert Settings.from_environment(chosen) == Settings(Lane.NATIVE, 3, "postgresql://a@b/c")
    assert Settings.from_environment({"UPCARD_LANE": "containers"}).lane is Lane.CONTAINERS


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"UPCARD_LANE": "docker"}, "UPCARD_LANE: 'docker' is none of embedded, native, containers"),
        ({"UPCARD_BROKERS": "many"}, "UPCARD_BROKERS: 'many' is not a number"),
        ({"UPCARD_LANE": "native", "UPCARD_BROKERS": "2"}, "UPCARD_BROKERS: 2 brokers: a cluster has 1 or 3"),
        ({"UPCARD_BROKERS": "3"}, "UPCARD_BROKERS: only the native lane has more than one broker"),
        (
            {"UPCARD_POSTGRES_DSN": "postgresql://x"},
            "UPCARD_POSTGRES_DSN: only the native lane takes a PostgreSQL of yours",
        ),
    ],
)
def test_a_wrong_setting_is_a_sentence(environment: dict[str, str], sentence: str) -> None:
    with pytest.raises(StackError, match=re.escape(sentence)):
        Settings.from_environment(environment)


def test_facts_tell_what_differs() -> None:
    embedded, single, cluster = (
        Settings(Lane.EMBEDDED).facts,
        Settings(Lane.NATIVE).facts,
        Settings(Lane.NATIVE, brokers=3).facts,
    )
    assert (embedded.idempotent_producer, embedded.transactions, embedded.broker_keeps_data) == (False,) * 3
    assert (single.idempotent_producer, single.transactions, single.broker_keeps_data) == (True,) * 3
    replicas = [(f.brokers, f.replication_factor, f.min_insync_replicas) for f in (embedded, single, cluster)]
    assert replicas == [(1, 1, 1), (1, 1, 1), (3, 3, 2)]
    assert not Settings(Lane.NATIVE, postgres_dsn="postgresql://x").facts.postgres_is_ours


@pytest.mark.parametrize(
    ("programs", "missing"), [((), "java and mvn"), (("java",), "mvn"), (("mvn",), "java")]
)
def test_the_native_lane_names_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: tuple[str, ...], missing: str
) -> None:
    for program in programs:
        (tmp_path / program).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    line = f"LANE native CANNOT RUN HERE: {missing} not found; it needs Java 17 or newer and Maven"
    with pytest.raises(LaneUnavailableError) as refusal:
        Stack(Lane.NATIVE).start()
    assert str(refusal.value) == line
    with pytest.raises(LaneUnavailableError):
        kafka_jars()


def test_the_container_lane_says_in_one_line_that_no_engine_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    with pytest.raises(LaneUnavailableError) as refusal:
        require(Lane.CONTAINERS)
    message = str(refusal.value)
    assert message.startswith("LANE containers CANNOT RUN HERE: no Docker engine answers at unix://")
    assert "\n" not in message


def test_the_embedded_lane_can_always_run() -> None:
    assert why_unavailable(Lane.EMBEDDED) is None


def test_kafka_is_fetched_as_the_pom_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "<artifactId>kafka_2.13</artifactId>" in pom().read_text()
    monkeypatch.setenv("UPCARD_PROJECT", str(tmp_path))
    with pytest.raises(StackError, match=r"pom\.xml is missing"):
        pom()


def test_a_fetch_that_fails_shows_mavens_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch(mode=0o755)
    (tmp_path / "bin" / "mvn").write_text("#!/bin/sh\necho '[ERROR] no such artifact'\nexit 1\n")
    (tmp_path / "bin" / "mvn").chmod(0o755)
    (tmp_path / "deploy" / "kafka").mkdir(parents=True)
    (tmp_path / "deploy" / "kafka" / "pom.xml").write_text("<project/>")
    monkeypatch.setenv("UPCARD_PROJECT", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    with pytest.raises(StackError, match=r"Maven's log is .*\.log:\n\[ERROR\] no such artifact"):
        jars.kafka_jars()
