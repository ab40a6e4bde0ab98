"""Dockerfile, entry point and docker-compose.yml: whole, without an engine; no secret in any of them."""

from __future__ import annotations

import http.server
import os
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from servicekit.settings import load_settings
from stack.project import project_folder
from upcard_operate.main import program
from upcard_operate.options import SERVICES

ROOT = project_folder()
SETTINGS = {
    "table": ("upcard_table.settings", "TableSettings"),
    "wallet": ("upcard_wallet.settings", "WalletSettings"),
    "bonus": ("upcard_bonus.settings", "BonusSettings"),
    "history": ("upcard_history.settings", "HistorySettings"),
    "gateway": ("upcard_gateway.settings", "GatewaySettings"),
}
VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?P<how>:-|:\?)?(?P<rest>[^}]*)\}")
KEY_IDS = ("UPCARD_CARD_KEY", "UPCARD_JACKPOT_KEY", "UPCARD_SECRET_KEY", "UPCARD_LINK_KEY")
SECRET = re.compile(r"PASSWORD|SECRET|KEY")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    return parsed


@pytest.fixture(scope="module")
def secrets() -> dict[str, str]:
    """What `upcard secrets` prints, read as docker compose reads it."""
    result = CliRunner().invoke(program(), ["secrets"])
    assert result.exit_code == 0
    lines = [line.partition("=") for line in result.stdout.splitlines()]
    assert all(
        value.startswith("'") and value.endswith("'") and "'" not in value[1:-1] for _, _, value in lines
    )
    return {name: value[1:-1] for name, _, value in lines}


def filled(text: str, secrets: dict[str, str]) -> str:
    """A value of the file with its variables filled in, as docker compose does it."""

    def value(found: re.Match[str]) -> str:
        if found["how"] == ":-":
            return secrets.get(found["name"], found["rest"])
        return secrets[found["name"]]

    return VARIABLE.sub(value, text)


def test_no_secret_has_a_default() -> None:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    found = [match for match in VARIABLE.finditer(text) if SECRET.search(match["name"])]
    assert found
    assert {match["how"] for match in found} == {":?"}, "a secret that is missing stops the start"


def test_each_start_makes_other_secrets(secrets: dict[str, str]) -> None:
    again = CliRunner().invoke(program(), ["secrets"]).stdout
    assert not [
        name for name, value in secrets.items() if value in again and not name.endswith(("_ID", "_KEY"))
    ]


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_understands_its_settings(
    compose: dict[str, Any], secrets: dict[str, str], service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("UPCARD_")]:
        monkeypatch.delenv(name)
    for name, value in compose["services"][service]["environment"].items():
        monkeypatch.setenv(name, filled(value, secrets))
    module, kind = SETTINGS[service]
    settings = load_settings(getattr(import_module(module), kind))
    assert settings.grpc.port == 7000
    assert settings.metrics_port == 9000
    (signer,) = settings.checkpoint_signers()
    assert str(signer.verifier) in secrets["UPCARD_CHECKPOINT_PUBLIC"].split()


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_confined_and_watched(compose: dict[str, Any], service: str) -> None:
    definition = compose["services"][service]
    assert definition["read_only"] is True
    assert definition["user"] == "10001:10001"
    assert definition["cap_drop"] == ["ALL"]
    assert definition["security_opt"] == ["no-new-privileges:true"]
    assert definition["healthcheck"]["test"] == ["CMD", "/usr/local/bin/entrypoint", "healthy"]
    assert {"mem_limit", "cpus", "pids_limit", "stop_grace_period", "logging"} <= set(definition)
    assert {port.split(":")[0] for port in definition["ports"]} == {"127.0.0.1"}
    assert definition["depends_on"]["prepare"] == {"condition": "service_completed_successfully"}


def test_databases_are_prepared_for_every_service(compose: dict[str, Any]) -> None:
    environment = compose["services"]["prepare"]["environment"]
    wanted = {f"UPCARD_{service.upper()}_DATABASE_PASSWORD" for service in SERVICES}
    assert wanted | {"UPCARD_ADMIN_DSN"} == set(environment)


def copied() -> Iterator[str]:
    for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[:1] == ["COPY"] and not any(word.startswith("--from") for word in words):
            yield from (word for word in words[1:-1] if not word.startswith("--"))


def test_what_the_image_is_made_of_is_there() -> None:
    sources = list(copied())
    assert sources
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(f"!{part}" in ignored for part in (source, str(Path(source).parent))), source


def test_the_image_runs_as_nobody_in_particular() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    last = text[text.rindex("FROM ") :]
    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert "--require-hashes" in text
    assert not re.search(r"^ADD |curl|wget|ARG .*(KEY|SECRET|PASSWORD)", text, re.MULTILINE)


def test_the_image_has_every_package_and_all_that_they_stand_on() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    named = set(re.findall(r"\./((?:libs|services)/\w+)", text))
    there = {str(path.parent.relative_to(ROOT)) for path in ROOT.glob("*/*/pyproject.toml")}
    assert named == there - {"libs/stack"}, "the servers of tests are no part of it"
    lock = (ROOT / "requirements-image.lock").read_text(encoding="utf-8")
    locked = {name.lower() for name in re.findall(r"^([A-Za-z0-9._-]+)==", lock, re.MULTILINE)}
    ours, wanted = set(), set()
    for folder in named:
        project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        ours.add(project["name"].replace("_", "-"))
        for dependency in project["dependencies"]:
            name = re.match(r"[A-Za-z0-9._-]+", dependency)
            assert name is not None
            wanted.add(name.group().lower().replace("_", "-"))
    assert wanted - ours <= locked


def entrypoint(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/sh", str(ROOT / "deploy" / "image" / "entrypoint"), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": path, **environment},
    )


def test_the_entry_point_starts_the_service_that_is_named() -> None:
    for service in SERVICES:
        done = entrypoint(service)
        assert done.returncode != 0
        assert "UPCARD_DSN" in done.stderr + done.stdout, "it says which settings are missing"


def test_the_entry_point_runs_anything_else_as_it_is() -> None:
    assert entrypoint("echo", "one two").stdout == "one two\n"
    assert "Usage" in entrypoint("upcard", "--help").stdout


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_health_is_what_the_service_says(status: int, code: int) -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/health/ready" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        done = entrypoint("healthy", UPCARD_METRICS_PORT=str(server.server_port))
        server.shutdown()
    assert done.returncode == code, done.stderr


def test_nobody_is_healthy_who_does_not_answer() -> None:
    done = entrypoint("healthy", UPCARD_METRICS_PORT="1")
    assert done.returncode == 1
    assert "not ready" in done.stderr
