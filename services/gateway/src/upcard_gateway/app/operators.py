"""Operators, looked up: who may sign, with what, under which terms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from upcard_gateway.domain.operators import Key, Operator


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key in force, with what checks its signatures."""

    operator: Operator
    key: Key
    secret: bytes | None = field(default=None, repr=False)
    """Of a key for HMAC; None: `key.public_key` checks."""


class Operators(Protocol):
    """Where operators are looked up; what is found may be a few seconds old."""

    async def signing_key(self, key_id: str) -> SigningKey | None:
        """The key in force of this id; None: there is none, or it was revoked."""
        ...

    async def operator(self, operator: str) -> Operator | None:
        """An operator by its id."""
        ...

    async def all(self) -> tuple[Operator, ...]:
        """All operators, by their ids."""
        ...
