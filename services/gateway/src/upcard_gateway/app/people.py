"""Who belongs to whom: the link between Upcard's opaque ids and partners' own.

It is the only place that knows partners' ids, nicknames and countries of people; all of it can be erased,
while every event and every other table has opaque ids alone. Each look-up is by the operator who asks: what
is not theirs is answered exactly like what does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from eventstore.postgres import Connection

ASKED_MAX: Final = 1_000
"""Most ids of one look-up: more raise ValueError, so that no caller forgets to go in pages."""


@dataclass(frozen=True, slots=True)
class Player:
    """A player as their operator knows them."""

    id: str
    """Upcard's opaque id: what all services call the player."""
    operator: str
    partner_id: str = field(repr=False)
    """The operator's own id of the player, `player` in the platform API. Never in an event or a log."""
    nickname: str = field(repr=False)
    """Shown at the table."""
    country: str = field(repr=False)
    """ISO 3166-1, two capital letters."""
    language: str = field(repr=False)
    """BCP 47, such as `en` or `pt-BR`: of the latest launch."""
    cashier_url: str | None = field(default=None, repr=False)
    """Where the player pays in: of the latest launch."""


@dataclass(frozen=True, slots=True)
class Person:
    """What an operator tells of a player at a launch."""

    operator: str
    partner_id: str = field(repr=False)
    nickname: str = field(repr=False)
    country: str = field(repr=False)
    language: str = field(repr=False)
    cashier_url: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Account:
    """An account of ours, which the wallet has or may not have yet."""

    account: str
    is_open: bool


@dataclass(frozen=True, slots=True)
class PlayerAccount:
    """An account in the wallet that is open."""

    account: str
    player: str
    operator: str
    currency: str


class People(Protocol):
    """The erasable table and what is kept beside it: `adapters.postgres.people.PostgresPeople(pool)`."""

    async def player_of(self, operator: str, partner_id: str) -> Player | None:
        """An operator's player by the operator's own id. None: unknown, erased, or of somebody else."""
        ...

    async def partner_ids(self, operator: str, players: Sequence[str]) -> Mapping[str, str]:
        """The operator's own ids of players by Upcard's: those of this operator that are not erased."""
        ...

    async def operators_of(self, players: Sequence[str]) -> Mapping[str, str]:
        """The operators of players, erased ones too; players that are unknown are missing."""
        ...

    async def known(self, players: Sequence[str]) -> Mapping[str, Player]:
        """Players by Upcard's ids, of all operators: for our own work, never for an operator's question."""
        ...

    async def account_of(self, player: str, currency: str) -> str | None:
        """The open account of a player in a currency."""
        ...

    async def accounts_of(self, player: str) -> tuple[PlayerAccount, ...]:
        """All open accounts of a player, by currency. Erased players keep theirs."""
        ...

    async def owners_of(self, accounts: Sequence[str]) -> Mapping[str, PlayerAccount]:
        """Whose accounts these are; unknown ones are missing."""
        ...


class PersonTables(Protocol):
    """The same tables in a transaction of the caller's."""

    async def player_of(self, connection: Connection, operator: str, partner_id: str) -> Player | None:
        """See `People`."""
        ...

    async def link(self, connection: Connection, new_player: str, person: Person) -> str:
        """The player's opaque id: the one there is, or the new one. What is told of them is noted."""
        ...

    async def ensure_account(
        self, connection: Connection, new_account: str, player: str, operator: str, currency: str
    ) -> Account:
        """The player's account in a currency: the one there is, or the new one, which is not open yet."""
        ...

    async def account_opened(self, connection: Connection, account: str) -> None:
        """The wallet has it."""
        ...

    async def erase(self, connection: Connection, operator: str, player: str) -> bool:
        """Remove what is known of the person; False: there was nothing."""
        ...
