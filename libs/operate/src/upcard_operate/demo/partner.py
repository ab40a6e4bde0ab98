"""A partner of the demonstration: a casino whose own wallet is a process with a book of its own."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from stack.ports import HOST, free_ports
from upcard_conformance.reference.book import Book, Known
from upcard_operate.local.process import Program

DIALECT: Final = "single"
"""The dialect that differs most from ours, and signs by RSA."""
_READY_S: Final = 30.0
_KEY: Final = "PARTNER_KEY"


class Partner:
    """The reference wallet, always at the same port. `start` and `stop` may follow each other."""

    def __init__(self, folder: Path, operator: str) -> None:
        (port,) = free_ports(1)
        key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
        self.operator = operator
        self.address = f"http://{HOST}:{port}/{DIALECT}"
        """Where Upcard calls it."""
        self._private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        self._file = folder / f"{operator}.sqlite"
        self.process = Program(
            f"{operator}-wallet",
            "upcard_conformance.reference",
            {_KEY: public},
            folder,
            arguments=[f"--book={self._file}", f"--port={port}", f"--dialect={DIALECT}={_KEY}"],
        )

    def settings(self) -> Mapping[str, str]:
        """What the wallet service has to be told about it."""
        return {
            "UPCARD_PARTNERS": json.dumps({self.operator: self.address}),
            "UPCARD_PARTNER_SECRETS": json.dumps({self.operator: self._private}),
            "UPCARD_PARTNER_DIALECTS": json.dumps({self.operator: DIALECT}),
        }

    def start(self) -> None:
        """Start it; it listens when this returns. Raises ServiceFailed."""
        self.process.start()
        self.process.until_said(DIALECT, _READY_S)

    @contextlib.contextmanager
    def _book(self) -> Iterator[Book]:
        book = Book(self._file)
        try:
            yield book
        finally:
            book.close()

    def give(self, balances: Mapping[str, int], currency: str) -> None:
        """Make these players, who own so many minor units."""
        with self._book() as book:
            for player, amount in balances.items():
                book.open(player, currency, amount)

    def balances(self, players: list[str], currency: str) -> dict[str, int | None]:
        """What its book says that they own, in minor units; None: it does not know them."""
        with self._book() as book:
            return {player: book.balance_of(player, currency) for player in players}

    def movements(self) -> list[Known]:
        """Everything that moved, as its book has it."""
        with self._book() as book:
            return book.movements()
