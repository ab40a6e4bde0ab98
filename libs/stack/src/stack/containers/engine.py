"""Whether there is a Docker engine."""

from __future__ import annotations

import importlib.util
import os
import socket

ANSWER_S = 5
API_VERSION = "1.41"
DEFAULT_HOST = "unix:///var/run/docker.sock"


def why_no_engine() -> str | None:
    """Why containers cannot be run here; None when an engine answers."""
    if importlib.util.find_spec("testcontainers") is None:
        return "the package testcontainers is not installed"
    host = os.environ.get("DOCKER_HOST") or DEFAULT_HOST
    try:
        _connect(host)
        _ping()
    except OSError as error:
        return f"no Docker engine answers at {host} ({error})"
    return None


def _connect(host: str) -> None:
    """Try the socket by itself first: refused, the client would leave it open."""
    path = host.removeprefix("unix://")
    if path != host:
        with socket.socket(socket.AF_UNIX) as engine:
            engine.settimeout(ANSWER_S)
            engine.connect(path)


def _ping() -> None:
    import docker  # noqa: PLC0415 - slow to import, and needed in this lane alone
    from docker.errors import DockerException  # noqa: PLC0415 - likewise

    try:
        client = docker.from_env(version=API_VERSION, timeout=ANSWER_S)
        try:
            client.ping()
        finally:
            client.close()
    except DockerException as error:
        raise OSError(str(error)) from error
