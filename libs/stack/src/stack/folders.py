"""The folder of a stack: one stack at a time, and none left lying about."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from stack.deadlines import Deadline, happens
from stack.errors import FolderInUseError
from stack.local.accounts import server_account
from stack.local.identity import Identity
from stack.project import stack_folder

TESTS_SETTING = "UPCARD_TEST_FOLDER"
MEMORY = Path("/dev/shm")
# Less than this is left alone: a container has 64 MiB there.
MEMORY_BYTES_MIN = 4 * 1024**3

PREFIX = "upcard-stack-"
# A temporary folder whose stack was killed is taken away by a later one, once it is this old.
ABANDONED_S = 120.0
# A process that was killed holds its locks until the system has taken it apart.
HOLDER_GOES_S = 10.0
# And it may still look alive for so long.
HOLDER_DIES_S = 1.0


class DataFolder:
    """A stack's folder, locked while it is open. A temporary one is gone after `close`."""

    def __init__(self, path: Path, lock: IO[str], *, temporary: bool) -> None:
        self.path = path
        self.temporary = temporary
        self._lock = lock

    @classmethod
    def open(cls, path: Path | None, within: Path | None = None) -> DataFolder:
        """Open a folder, made if need be; for None a temporary one, in `within` or the system's place.

        Raises:
            FolderInUseError: Another stack has it open.
        """
        temporary = path is None
        if path is None:
            within = within or Path(tempfile.gettempdir())
            _take_abandoned_away(within)
            path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=within))
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(0o711)  # servers that run as another account pass through, and see no more
        lock = _locked(path) or _locked_after_its_holder(path)
        if lock is None:
            raise FolderInUseError(f"{path} is in use by another stack (pid {_holder(path) or 'unknown'})")
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        return cls(path.resolve(), lock, temporary=temporary)

    def close(self) -> None:
        """Let others have it. A temporary one goes in the background: some disks are slow at that."""
        if self.temporary:
            threading.Thread(target=self._take_away, name=f"remove {self.path}").start()
        else:
            self._lock.close()

    def _take_away(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def lasting_folder(lane: str) -> Path:
    """Where `make stack` keeps a lane's data: in the project, if the servers' account can reach that."""
    inside = stack_folder() / lane
    account = server_account()
    if account is None or account.reaches(inside / "postgresql"):
        return inside
    place = hashlib.sha256(os.fsencode(inside)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"upcard-kept-{os.geteuid()}-{place}" / lane


def folder_for_tests(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Where temporary data of tests lie: in memory, if there is enough; None for the usual place.

    Nothing that a test can do to a server tells memory from a disk: it takes a loss of power. But tests make
    and drop many databases, and some disks take half a second for each.
    """
    named = environment.get(TESTS_SETTING)
    if named:
        return Path(named)
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK | os.X_OK):
        return None
    free = os.statvfs(MEMORY)
    return MEMORY if free.f_bavail * free.f_frsize >= MEMORY_BYTES_MIN else None


def _locked(path: Path) -> IO[str] | None:
    """The folder's lock file, locked; None when someone else has it. The lock goes with the process."""
    lock = (path / "lock").open("a", encoding="ascii")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    return lock


def _locked_after_its_holder(path: Path) -> IO[str] | None:
    """The lock of a folder whose holder has just been killed; None when it is alive and stays so."""
    locks: list[IO[str]] = []
    moment = Deadline(HOLDER_DIES_S)

    def settled() -> bool:
        holder = _holder(path)
        if (lock := _locked(path)) is not None:
            locks.append(lock)
        return bool(locks) or (moment.passed and holder is not None and Identity.of(holder) is not None)

    happens(settled, HOLDER_GOES_S)
    return locks[0] if locks else None


def _holder(path: Path) -> int | None:
    """The pid of the process that has, or had, a folder open."""
    try:
        return int((path / "lock").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _take_abandoned_away(within: Path) -> None:
    for path in within.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            status = path.stat()
            if status.st_uid != os.geteuid() or time.time() - status.st_mtime < ABANDONED_S:
                continue
            lock = _locked(path)
            if lock is not None:
                shutil.rmtree(path, ignore_errors=True)
                lock.close()
