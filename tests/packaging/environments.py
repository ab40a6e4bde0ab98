"""Pythons to try a package on, and empty environments to install it into."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

OLDEST, NEWEST = 11, 14


class Program(NamedTuple):
    """How a program ended."""

    status: int
    output: str
    errors: str


def run(*command: str | Path, cwd: Path, stdin: str = "") -> Program:
    """Run a program without the caller's Python settings; text in, text out."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}
    done = subprocess.run(
        command, cwd=cwd, env=variables, input=stdin, capture_output=True, text=True, check=False, timeout=300
    )
    return Program(done.returncode, done.stdout, done.stderr)


def python_of(minor: int) -> Path | None:
    """A working Python 3.`minor` of this machine: the running one, on the path, or one that pyenv keeps."""
    if sys.version_info[:2] == (3, minor):
        return Path(sys.executable)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [shutil.which(f"python3.{minor}"), *sorted(pyenv.glob(f"versions/3.{minor}.*/bin/python"))]
    for candidate in candidates:
        if candidate and run(candidate, "-c", "", cwd=Path.cwd()).status == 0:
            return Path(candidate)
    return None


def empty_environment(folder: Path) -> Path:
    """Make an environment with nothing in it but Python; its interpreter."""
    made = run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    assert made.status == 0, made.errors
    return folder / "bin" / "python"
