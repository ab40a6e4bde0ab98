"""As root, PostgreSQL runs as another account; otherwise everything runs as whoever starts it."""

from __future__ import annotations

import os
import pwd
import shutil
import site
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from stack import Stack
from stack.local.accounts import DEFAULT
from stack.postgres.server import PostgresServer
from stack.project import project_folder

PROGRAM = """
import json, os
from stack import Lane, Stack
from stack.folders import folder_for_tests
with Stack(Lane.EMBEDDED, temporary_in=folder_for_tests()) as stack:
    import psutil
    servers = (stack.postgres, stack.broker)
    owners = {server.name: psutil.Process(server.pid).uids().effective for server in servers}
    stack.postgres.kill()
    stack.postgres.start()
    print(json.dumps({"euid": os.geteuid(), "owners": owners}))
"""


def test_root_runs_postgresql_as_another_account(stack: Stack) -> None:
    assert isinstance(stack.postgres, PostgresServer)
    owner = psutil.Process(stack.postgres.pid).username()
    if os.geteuid() == 0:
        assert owner == os.environ.get("UPCARD_SERVER_USER", DEFAULT)
    else:
        assert owner == pwd.getpwuid(os.geteuid()).pw_name


def python_for(account: str, folder: Path) -> tuple[list[str], dict[str, str]]:
    """A Python with our packages that an account can run; linked into a folder if need be."""
    packages = Path(site.getsitepackages()[0])
    path = [project_folder() / "libs" / "stack" / "src", packages]
    for python in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        command, variables = [python], {"PYTHONPATH": ":".join(map(str, path))}
        if _runs(account, command, variables):
            return command, variables
    home = folder / "python"
    (home / "bin").mkdir(parents=True)
    name = f"python3.{sys.version_info.minor}"
    shutil.copy2(Path(sys.executable).resolve(), home / "bin" / name)
    _link(Path(sys.base_prefix) / "lib" / name, home / "lib" / name)
    for item in path:
        _link(item, folder / item.name)
    copies = ":".join(str(folder / item.name) for item in path)
    return [str(home / "bin" / name)], {"PYTHONHOME": str(home), "PYTHONPATH": copies}


def _link(tree: Path, target: Path) -> None:
    shutil.copytree(tree, target, copy_function=os.link, ignore=shutil.ignore_patterns("test", "__pycache__"))


def _runs(account: str, command: list[str], variables: dict[str, str]) -> bool:
    try:
        done = subprocess.run(
            [*command, "-c", "import stack.stack"],
            env=variables,
            user=account,
            group=pwd.getpwnam(account).pw_gid,
            extra_groups=[],
            cwd="/",
            capture_output=True,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests of this run are the run without root")
def test_an_ordinary_account_needs_no_root(open_folder: Path) -> None:
    open_folder.chmod(0o755)
    command, variables = python_for(DEFAULT, open_folder)
    entry = pwd.getpwnam(DEFAULT)
    done = subprocess.run(
        [*command, "-c", PROGRAM],
        env={**variables, "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        user=entry.pw_uid,
        group=entry.pw_gid,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert (
        f'"euid": {entry.pw_uid}, "owners": {{"postgresql": {entry.pw_uid}, "broker": {entry.pw_uid}}}'
        in done.stdout
    )
