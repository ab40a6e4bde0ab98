"""docker-compose.yml: valid without an engine, bounded, on loopback, and the same as the container lane."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from stack.containers import images
from stack.containers.engine import why_no_engine
from stack.project import project_folder

SERVICES = ("postgres", "kafka")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """The file, parsed."""
    text = (project_folder() / "docker-compose.yml").read_text(encoding="utf-8")
    parsed = yaml.safe_load(text)
    assert isinstance(parsed, dict)
    return parsed


def the_default(text: str) -> str:
    """A value with `${NAME:-default}` replaced by the default."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def test_it_is_valid_by_the_compose_specification(compose: dict[str, Any]) -> None:
    schema = json.loads(
        resources.files("check_jsonschema.builtin_schemas.vendor")
        .joinpath("compose-spec.json")
        .read_text(encoding="utf-8")
    )
    validator = jsonschema.validators.validator_for(schema)(schema)
    assert [error.message for error in validator.iter_errors(compose)] == []
    compose["services"]["kafka"]["no_such_key"] = 1
    assert list(validator.iter_errors(compose)) != [], "the check has to be able to fail"
    del compose["services"]["kafka"]["no_such_key"]


@pytest.mark.parametrize("service", SERVICES)
def test_each_service_is_watched_and_bounded(compose: dict[str, Any], service: str) -> None:
    definition = compose["services"][service]
    assert {"test", "interval", "timeout", "retries", "start_period"} <= set(definition["healthcheck"])
    assert {"mem_limit", "cpus", "pids_limit", "logging", "stop_grace_period"} <= set(definition)
    assert definition["logging"]["options"] == {"max-size": "10m", "max-file": "3"}


@pytest.mark.parametrize("service", SERVICES)
def test_ports_are_on_loopback_only(compose: dict[str, Any], service: str) -> None:
    assert [port.split(":")[0] for port in compose["services"][service]["ports"]] == ["127.0.0.1"]


def test_each_volume_is_declared_and_used(compose: dict[str, Any]) -> None:
    used = {mount.split(":")[0] for one in compose["services"].values() for mount in one.get("volumes", ())}
    assert used == set(compose["volumes"])
    # From 18 on the image keeps data below this folder and refuses a volume at .../data.
    assert compose["services"]["postgres"]["volumes"] == ["postgres:/var/lib/postgresql"]


def test_the_container_lane_runs_the_same_images(compose: dict[str, Any]) -> None:
    postgres, kafka = images.postgres("secret"), images.kafka(29092)
    services = compose["services"]
    assert (services["postgres"]["image"], services["kafka"]["image"]) == (postgres.image, kafka.image)
    assert tuple(services["postgres"]["command"]) == postgres.command
    ours = {name: the_default(value) for name, value in services["kafka"]["environment"].items()}
    same = {name: value for name, value in ours.items() if name != "KAFKA_LOG_DIRS"}
    theirs = {
        name: value.replace("localhost:19092", "kafka:19092") for name, value in kafka.environment.items()
    }
    assert same == theirs


def test_kafkas_image_is_the_version_of_the_native_lane() -> None:
    pom = (project_folder() / "deploy" / "kafka" / "pom.xml").read_text(encoding="utf-8")
    version = re.search(r"<artifactId>kafka_2\.13</artifactId>\s*<version>([^<]+)<", pom)
    assert version is not None
    assert version.group(1) == images.KAFKA_IMAGE.removeprefix("apache/kafka:")


def test_whether_an_engine_answers_is_asked_within_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    why = why_no_engine()
    assert why is not None
    assert why.startswith("no Docker engine answers")
