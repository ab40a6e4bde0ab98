"""The reference wallet as a process of its own: killed as by a power cut, started again on the same book."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from upcard_conformance.reference.book import Book, Known

END_S = 60.0
DIALECT = "single"


class PartnerProcess:
    """A partner that speaks the dialect that differs most from ours, always at the same port."""

    def __init__(self, folder: Path, port: int) -> None:
        key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
        self.private_pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        """What Upcard signs with."""
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        self._public_pem = public.decode()
        self._file = folder / "partner.sqlite"
        self._port = port
        self._process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        """Where Upcard calls it."""
        return f"http://127.0.0.1:{self._port}/{DIALECT}"

    def start(self) -> None:
        """Start it; it listens when this returns."""
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "upcard_conformance.reference",
                f"--book={self._file}",
                f"--port={self._port}",
                f"--dialect={DIALECT}=PARTNER_KEY",
            ],
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": "/usr/bin:/bin", "PARTNER_KEY": self._public_pem},
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline().startswith(DIALECT), "it says where it listens"

    def kill(self) -> None:
        """As by a power cut."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate(timeout=END_S)
            self._process = None

    @contextlib.contextmanager
    def _book(self) -> Iterator[Book]:
        book = Book(self._file)
        try:
            yield book
        finally:
            book.close()

    def give(self, player: str, currency: str, amount: int) -> None:
        """Make a player who owns this."""
        with self._book() as book:
            book.open(player, currency, amount)

    def balance(self, player: str, currency: str) -> int | None:
        """What a player owns in its own book."""
        with self._book() as book:
            return book.balance_of(player, currency)

    def movements(self) -> list[Known]:
        """Everything that moved, as its own book has it."""
        with self._book() as book:
            return book.movements()
