"""Secrets of jackpots, encrypted before they leave the process; each is bound to its jackpot and cycle."""

from __future__ import annotations

from typing import Final

from eventstore.postgres import Connection
from eventstore.private import Keyring
from upcard_bonus.domain.ids import jackpot_stream

_PUT: Final = "INSERT INTO bonus.secrets (jackpot, cycle, key_id, ciphertext) VALUES ($1, $2, $3, $4)"
_GET: Final = "SELECT key_id, ciphertext FROM bonus.secrets WHERE jackpot = $1 AND cycle = $2"


class SecretMissing(Exception):
    """A cycle with a commitment has no secret here: the table was not restored with the log."""


class SecretTable:
    """Implements `app.ports.Vault`."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    async def put(self, connection: Connection, jackpot: str, cycle: int, secret: bytes) -> None:
        """See `Vault`."""
        key_id, ciphertext = self._keyring.encrypt(secret, jackpot_stream(jackpot), cycle)
        await connection.execute(_PUT, jackpot, cycle, key_id, ciphertext)

    async def get(self, connection: Connection, jackpot: str, cycle: int) -> bytes:
        """See `Vault`. Raises SecretMissing, UnknownKey, PrivatePartUnreadable."""
        row = await connection.fetchrow(_GET, jackpot, cycle)
        if row is None:
            raise SecretMissing(f"jackpot {jackpot}, cycle {cycle}")
        return self._keyring.decrypt(row["key_id"], row["ciphertext"], jackpot_stream(jackpot), cycle)
