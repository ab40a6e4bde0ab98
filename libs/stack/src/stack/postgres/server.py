"""PostgreSQL 18 on this machine, from the wheel."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import psutil

from stack.errors import FolderInUseError, StackError
from stack.local.accounts import SETTING, Account, server_account
from stack.local.guarded import Command
from stack.local.server import LocalServer
from stack.postgres.binaries import programs
from stack.postgres.configuration import HOST_BASED_ACCESS, postgresql_conf

SUPERUSER = "postgres"
INITDB_DEADLINE_S = 120.0
# sockaddr_un holds 107 bytes on Linux, 103 on macOS; PostgreSQL appends `/.s.PGSQL.<port>.lock`.
SOCKET_FOLDER_BYTES_MAX = 80
# After a kill the old server's children may still hold its shared memory for a moment.
STILL_IN_USE = re.compile(r"pre-existing shared memory block|lock file \"postmaster\.pid\" already exists")


class PostgresServer(LocalServer):
    """One PostgreSQL server. In its folder: `data`, the log, the superuser's password, the socket."""

    name = "postgresql"
    stop_signal = signal.SIGINT  # "fast": ends the sessions, writes a checkpoint
    stop_deadline_s = 30.0

    def __init__(self, folder: Path, port: int | None = None, *, kept: bool) -> None:
        """`kept`: the data outlives this run, so that initdb has to write it through to the disk."""
        super().__init__(folder, port)
        self._kept = kept
        self._account: Account | None = server_account()
        self._programs = programs(self._account)
        self._socket_folder: Path | None = None
        self._segments: list[Path] = []

    @property
    def data(self) -> Path:
        """PGDATA."""
        return self.folder / "data"

    @property
    def socket_folder(self) -> Path:
        """Where its Unix socket is."""
        if self._socket_folder is None:
            raise RuntimeError("PostgreSQL has not been started")
        return self._socket_folder

    @property
    def superuser_password(self) -> str:
        """The password of the superuser `postgres`."""
        return (self.folder / "password").read_text(encoding="ascii").strip()

    def start(self) -> None:
        """Start it, with new data where there are none."""
        if not self.running:
            self.folder.mkdir(parents=True, exist_ok=True)
            if self._account is not None and not self._account.reaches(self.data):
                raise StackError(
                    f"PostgreSQL refuses to run as root, and the account {self._account.name!r} cannot reach "
                    f"{self.folder}: choose another data folder, or another account with {SETTING}"
                )
            super().start()
            self._segments = _shared_memory_of(self.pid)

    def stop(self) -> None:
        """End it in order, and take away what a server that was killed has left outside its folder."""
        super().stop()
        self._drop_segments()
        if self._socket_folder is not None and self._socket_folder.parent != self.folder:
            shutil.rmtree(self._socket_folder, ignore_errors=True)
        self._socket_folder = None

    def prepare(self) -> None:
        """Data, configuration, a place for the socket; and no trace of an earlier server in the way."""
        if not (self.data / "PG_VERSION").exists():
            self._make_data()
        self._clear_stale_pid_file()
        self._socket_folder = self._make_socket_folder()
        assert self.port is not None  # noqa: S101 - set before each try
        self._write(self.data / "postgresql.conf", postgresql_conf(self.port, self._socket_folder))
        self._write(self.data / "pg_hba.conf", HOST_BASED_ACCESS)

    def command(self) -> Command:
        """The server in the foreground, its log on standard error."""
        return Command(
            arguments=[str(self._programs / "postgres"), "-D", str(self.data)],
            folder=self.folder,
            log=self.log,
            stop_signal=self.stop_signal,
            stop_deadline_s=self.stop_deadline_s,
            account=self._account,
            environment={"TZ": "UTC", "LC_ALL": "C"},
        )

    def is_ready(self) -> bool:
        """Whether the server itself notes that it accepts connections (the last line of its pid file)."""
        lines = self._pid_file_lines()
        return len(lines) >= 8 and lines[0].strip() == str(self.pid) and lines[7].strip() == "ready"

    def should_be_tried_again(self, log: str) -> bool:
        """The children of a killed server need a moment to go."""
        return STILL_IN_USE.search(log) is not None

    def wipe(self) -> None:
        """Kill it and throw its data away; the next start begins with nothing."""
        if self.running:
            self.kill()
        self._drop_segments()
        shutil.rmtree(self.data, ignore_errors=True)

    def _make_data(self) -> None:
        """`initdb`, into a folder that gets its name only when it is whole."""
        draft = self.folder / "data.new"
        shutil.rmtree(draft, ignore_errors=True)
        password = self.folder / "password"
        if not password.exists():
            password.touch(mode=0o600)
            password.write_text(f"{secrets.token_urlsafe(24)}\n", encoding="ascii")
        owner: dict[str, Any] = {}
        if self._account is not None:
            self._account.give(draft)
            os.chown(password, self._account.uid, self._account.gid)
            owner = {"user": self._account.uid, "group": self._account.gid, "extra_groups": []}
        arguments = [
            str(self._programs / "initdb"),
            f"--pgdata={draft}",
            f"--username={SUPERUSER}",
            f"--pwfile={password}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--locale=C.UTF-8",
            "--data-checksums",
            "--no-instructions",
            *([] if self._kept else ["--no-sync"]),
        ]
        with self.log.open("ab") as log:
            try:
                subprocess.run(
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                    env={**os.environ, "TZ": "UTC", "LC_ALL": "C"},
                    check=True,
                    timeout=INITDB_DEADLINE_S,
                    **owner,
                )
            except (OSError, subprocess.SubprocessError) as error:
                raise self.failed(f"initdb failed ({error})") from error
        draft.replace(self.data)

    def _make_socket_folder(self) -> Path:
        """In the server's folder, or in the system's for temporary files where the path would be too long."""
        folder = self._socket_folder or self.folder / "socket"
        if len(os.fsencode(folder)) > SOCKET_FOLDER_BYTES_MAX:
            folder = Path(tempfile.mkdtemp(prefix="upcard-pg-"))
        shutil.rmtree(folder, ignore_errors=True)  # a killed server leaves its socket and the lock beside it
        folder.mkdir()
        if self._account is not None:
            self._account.give(folder)
        folder.chmod(0o755)
        return folder

    def _pid_file_lines(self) -> list[str]:
        try:
            return (self.data / "postmaster.pid").read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []

    def _clear_stale_pid_file(self) -> None:
        """PostgreSQL takes any process with the pid in an old pid file for a running server. We look closer.

        Raises:
            FolderInUseError: A PostgreSQL that we did not start is using the data.
        """
        lines = self._pid_file_lines()
        if not lines or not lines[0].strip().isdigit():
            return
        with contextlib.suppress(psutil.Error):  # no process has the pid: PostgreSQL sees that as well
            process = psutil.Process(int(lines[0]))
            if process.name() == "postgres" and Path(process.cwd()).resolve() == self.data.resolve():
                raise FolderInUseError(
                    f"{self.data} is in use by a PostgreSQL that this stack did not start (pid {process.pid})"
                )
            (self.data / "postmaster.pid").unlink(missing_ok=True)

    def _drop_segments(self) -> None:
        """Shared memory of a server that was killed; only a next start on these data would drop it."""
        for segment in self._segments:
            segment.unlink(missing_ok=True)
        self._segments = []

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        path.chmod(0o644)


def _shared_memory_of(pid: int) -> list[Path]:
    """The segments of shared memory that a server has as files (Linux)."""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return sorted({Path(found) for found in re.findall(r"(/dev/shm/PostgreSQL\.\d+)$", maps, re.MULTILINE)})
