"""The stack: PostgreSQL and Kafka of one lane, started and stopped together."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from stack.addresses import Addresses
from stack.assembly import Parts, assemble
from stack.errors import NotOursError
from stack.folders import MEMORY, DataFolder
from stack.lanes import Lane, LaneFacts, Settings, require
from stack.names import fresh_name
from stack.postgres.databases import Databases, dsn, through_socket, with_database
from stack.servers import Server
from stack.threads import run_apart

ROLE = DATABASE = "upcard"


class Stack:
    """Real servers on this machine, for as long as a `with` (or `async with`) lasts.

    The servers end with this process, however it ends. The folder can be used again after that, by one stack
    at a time; without one, data lie in a temporary folder that goes with the stack.

    Methods that wait for a server block; from a coroutine, use `async with`, or `asyncio.to_thread` for the
    rest.
    """

    def __init__(
        self,
        lane: Lane | Settings | None = None,
        data_dir: Path | None = None,
        *,
        temporary_in: Path | None = None,
    ) -> None:
        """A stack, not yet started. Without a lane: what the environment says (`Settings`).

        Without a `data_dir`, data lie in a temporary folder: in `temporary_in`, or the system's place.
        """
        if lane is None:
            lane = Settings.from_environment()
        self.settings = Settings(lane) if isinstance(lane, Lane) else lane
        self._data_dir = data_dir
        self._temporary_in = temporary_in
        self._folder: DataFolder | None = None
        self._parts: Parts | None = None
        self._addresses: Addresses | None = None
        self._databases: Databases | None = None
        self._guest_database: str | None = None

    @property
    def facts(self) -> LaneFacts:
        """What this lane's servers can do."""
        return self.settings.facts

    @property
    def addresses(self) -> Addresses:
        """Where the servers are."""
        if self._addresses is None:
            raise RuntimeError("the stack has not been started")
        return self._addresses

    @property
    def folder(self) -> Path:
        """Where data and logs lie."""
        if self._folder is None:
            raise RuntimeError("the stack has not been started")
        return self._folder.path

    @property
    def postgres(self) -> Server:
        """The PostgreSQL server, to be killed, paused, restarted."""
        return self._started().postgres

    @property
    def brokers(self) -> tuple[Server, ...]:
        """The brokers, likewise."""
        return self._started().cluster.brokers

    @property
    def broker(self) -> Server:
        """The first broker."""
        return self.brokers[0]

    @property
    def databases(self) -> Databases:
        """Makes and drops databases."""
        if self._databases is None:
            raise RuntimeError("the stack has not been started")
        return self._databases

    @property
    def dead(self) -> list[Server]:
        """The servers that have ended though nobody stopped the stack."""
        return [server for server in (self.postgres, *self.brokers) if not server.running]

    def start(self) -> Addresses:
        """Start all servers, side by side, and wait until they serve.

        Raises:
            LaneUnavailableError: The lane needs something that is not on this machine.
            FolderInUseError: Another stack is using the folder.
            ServerDidNotStartError: The message names the server's log and shows the end of it.
        """
        if self._parts is not None:
            return self.addresses
        require(self.settings.lane)
        self._folder = DataFolder.open(self._data_dir, self._temporary_in)
        try:
            self._parts = assemble(self.settings, self._folder.path, kept=not self._folder.temporary)
            _side_by_side(self._parts.postgres.start, self._parts.cluster.start)
            self._addresses = self._introduce(self._parts)
        except BaseException:
            self.stop()
            raise
        return self._addresses

    def stop(self) -> None:
        """Stop all servers; nothing of them is left but a folder that was asked for."""
        parts, self._parts, self._addresses = self._parts, None, None
        try:
            if parts is not None:
                if self._guest_database is not None:
                    self._drop_guest_database()
                _side_by_side(parts.postgres.stop, parts.cluster.stop)
                parts.dispose()
        finally:
            if self._folder is not None:
                self._folder.close()
                self._folder = None

    @property
    def in_memory(self) -> bool:
        """Whether data lie in memory: quick, and gone with the machine's power."""
        return self.folder.is_relative_to(MEMORY)

    async def create_database(self, name: str | None = None, template: str | None = None) -> str:
        """Make a database, a copy of `template` if one is named. Its address, for the role that owns it."""
        return await self.databases.create(name or fresh_name("db"), template)

    async def drop_database(self, name: str) -> None:
        """Drop a database, whoever is connected to it."""
        await self.databases.drop(name)

    def wipe_broker(self, which: int = 0) -> None:
        """Kill a broker, throw all away that it had, and start it again at its address.

        Raises:
            NotOursError: There is no such broker here.
        """
        if not 0 <= which < len(self.brokers):
            raise NotOursError(
                f"this stack has {len(self.brokers)} brokers; there is none with the number {which}"
            )
        self.brokers[which].wipe()
        self.brokers[which].start()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.stop)

    def _introduce(self, parts: Parts) -> Addresses:
        """Make role and database, tell where everything is."""
        admin = parts.admin_dsn()
        if self.settings.postgres_dsn is None:
            owner = dsn(ROLE, self._role_password(), parts.postgres.address, DATABASE)
            self._databases = Databases(admin, owner)
            run_apart(lambda: _ensure(self.databases, DATABASE))
        else:
            # In someone's server we make no role, and a database of our own that goes with us.
            self._guest_database = fresh_name(DATABASE)
            owner = with_database(admin, self._guest_database)
            self._databases = Databases(admin, owner)
            run_apart(lambda: self.databases.create(str(self._guest_database)))
        addresses = Addresses(
            postgres_dsn=owner,
            admin_dsn=admin,
            kafka_bootstrap=parts.cluster.bootstrap,
            facts=self.facts,
            postgres_socket_dsn=through_socket(owner, folder) if (folder := parts.socket_folder()) else None,
            logs=parts.logs(),
        )
        file = self.folder / "addresses.json"
        file.unlink(missing_ok=True)
        file.touch(mode=0o600)
        file.write_text(f"{addresses.as_json()}\n", encoding="utf-8")
        return addresses

    def _role_password(self) -> str:
        file = self.folder / f"{ROLE}.password"
        if not file.exists():
            file.touch(mode=0o600)
            file.write_text(secrets.token_urlsafe(24), encoding="ascii")
        return file.read_text(encoding="ascii").strip()

    def _drop_guest_database(self) -> None:
        with contextlib.suppress(OSError):  # a server that has gone has taken it along
            run_apart(lambda: self.databases.drop(str(self._guest_database)))
        self._guest_database = None

    def _started(self) -> Parts:
        if self._parts is None:
            raise RuntimeError("the stack has not been started")
        return self._parts


async def _ensure(databases: Databases, name: str) -> None:
    await databases.ensure_owner()
    if not await databases.exists(name):
        await databases.create(name)


def _side_by_side(*steps: Callable[[], None]) -> None:
    """Do all steps at once, each to its end; then raise what the first one raised."""
    with ThreadPoolExecutor(len(steps)) as pool:
        results = [pool.submit(step) for step in steps]
    for result in results:
        result.result()
