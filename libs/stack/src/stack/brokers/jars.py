"""Apache Kafka's files: from Maven Central into a folder that git ignores, once for each version."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from stack.errors import StackError
from stack.lanes import Lane, require
from stack.project import cache_folder, project_folder

FETCH_DEADLINE_S = 600.0


def pom() -> Path:
    """What says which Kafka: `deploy/kafka/pom.xml` of the project.

    Raises:
        StackError: We are not in a project that has one.
    """
    file = project_folder() / "deploy" / "kafka" / "pom.xml"
    if not file.is_file():
        raise StackError(f"{file} is missing: the native lane runs from a checkout of the project")
    return file


def kafka_jars() -> Path:
    """The folder of Kafka's jars; fetched first when this version is not there yet.

    Raises:
        LaneUnavailableError: No Java or no Maven.
        StackError: They cannot be fetched; the message names Maven's log and shows the end of it.
    """
    require(Lane.NATIVE)
    wanted = pom()
    version = hashlib.sha256(wanted.read_bytes()).hexdigest()[:16]
    folder = cache_folder() / "kafka"
    target = folder / version
    if target.is_dir():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # others wait here for us, then find it done
        if not target.is_dir():
            _fetch(wanted, folder / f"{version}.new")
            (folder / f"{version}.new").replace(target)
    return target


def _fetch(wanted: Path, draft: Path) -> None:
    shutil.rmtree(draft, ignore_errors=True)
    log = draft.with_suffix(".log")
    print(f"Fetching Apache Kafka with Maven (about 45 MB, once); its log: {log}", file=sys.stderr)
    command = [
        "mvn",
        "-B",
        "--strict-checksums",
        "-f",
        str(wanted),
        "dependency:copy-dependencies",
        f"-DoutputDirectory={draft}",
    ]
    with log.open("wb") as output:
        try:
            subprocess.run(
                [*command, "-DincludeScope=runtime"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, "TERM": "dumb"},
                check=True,
                timeout=FETCH_DEADLINE_S,
            )
        except (OSError, subprocess.SubprocessError) as error:
            end = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-25:])
            raise StackError(f"Kafka cannot be fetched ({error}); Maven's log is {log}:\n{end}") from error
