"""Roles and databases in a server, ours or not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlencode, urlsplit, urlunsplit

import asyncpg

from stack.threads import run_apart

NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
CONNECT_S = 30.0
GREETING_S = 5.0


@dataclass(frozen=True, slots=True)
class Databases:
    """Makes and drops databases. `admin_dsn` may do all; databases belong to the role of `owner_dsn`."""

    admin_dsn: str
    owner_dsn: str

    @property
    def owner(self) -> str:
        """The role that databases belong to."""
        return unquote(urlsplit(self.owner_dsn).username or "")

    def dsn_of(self, database: str) -> str:
        """The owner's address of a database."""
        return with_database(self.owner_dsn, database)

    async def ensure_owner(self) -> None:
        """The owner's role exists, may log in with its password, and may do nothing more."""
        password = unquote(urlsplit(self.owner_dsn).password or "")
        connection = await asyncpg.connect(self.admin_dsn, timeout=CONNECT_S)
        try:
            exists = await connection.fetchval("SELECT true FROM pg_roles WHERE rolname = $1", self.owner)
            verb = "ALTER" if exists else "CREATE"
            # A utility statement takes no parameters: the server quotes them for us.
            statement = await connection.fetchval(
                "SELECT format('%s ROLE %I LOGIN PASSWORD %L', $1::text, $2::text, $3::text)",
                verb,
                self.owner,
                password,
            )
            await connection.execute(statement)
        finally:
            await connection.close()

    async def exists(self, name: str) -> bool:
        """Whether there is a database of this name."""
        connection = await asyncpg.connect(self.admin_dsn, timeout=CONNECT_S)
        try:
            found = await connection.fetchval("SELECT true FROM pg_database WHERE datname = $1", name)
        finally:
            await connection.close()
        return found is True

    async def create(self, name: str, template: str | None = None) -> str:
        """Make a database, empty or a copy of one to which nobody is connected. The owner's address of it."""
        await self._run(
            f"CREATE DATABASE {_checked(name)} OWNER {_checked(self.owner)} {_template(template)}"
        )
        return self.dsn_of(name)

    async def drop(self, *names: str) -> None:
        """Drop databases, whoever is connected to them; nothing happens to one that does not exist.

        Several at once cost little more than one: it is the checkpoint before the first that takes the time.
        """
        await self._run(*(f"DROP DATABASE IF EXISTS {_checked(name)} WITH (FORCE)" for name in names))

    async def _run(self, *statements: str) -> None:
        connection = await asyncpg.connect(self.admin_dsn, timeout=CONNECT_S)
        try:
            for statement in statements:  # neither of them may stand in a transaction
                await connection.execute(statement)
        finally:
            await connection.close()


def accepts(admin_dsn: str) -> bool:
    """Whether a server lets us in."""
    return run_apart(lambda: _greets(admin_dsn))


async def _greets(address: str) -> bool:
    try:
        connection = await asyncpg.connect(address, timeout=GREETING_S)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return False
    await connection.close()
    return True


def dsn(user: str, password: str, address: str, database: str) -> str:
    """A PostgreSQL address."""
    return (
        f"postgresql://{quote(user, safe='')}:{quote(password, safe='')}@{address}/{quote(database, safe='')}"
    )


def with_database(address: str, database: str) -> str:
    """The same server and role, another database."""
    return urlunsplit(urlsplit(address)._replace(path=f"/{quote(database, safe='')}"))


def through_socket(address: str, folder: str) -> str:
    """The same server, role and database through the server's Unix socket."""
    parts = urlsplit(address)
    credentials, _, _ = parts.netloc.rpartition("@")
    query = urlencode({"host": folder, "port": parts.port or 5432})
    return urlunsplit(parts._replace(netloc=f"{credentials}@", query=query))


def _template(name: str | None) -> str:
    # template0: nobody can ever be connected to it, which would refuse the copy.
    return f"TEMPLATE {_checked(name)}" if name is not None else "TEMPLATE template0"


def _checked(name: str) -> str:
    """A name as an identifier: ours are plain, and anything else is a mistake.

    Raises:
        ValueError: It is not plain.
    """
    if NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} is no name for a database or role here: {NAME.pattern}")
    return f'"{name}"'
