"""The shoe reader as a process of its own, which ends with whoever started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from upcard_operate.demo.reader import READY
from upcard_operate.keys import SigningKey
from upcard_operate.local.process import ServiceFailed

STOP_S: Final = 20.0
START_S: Final = 60.0
_PAUSE_S: Final = 0.05
_LAST_CHARACTERS: Final = 2_000


class ReaderProcess:
    """`python -m upcard_operate.demo.reader`. Use it as a context manager; its log is `<folder>/reader.log`.

    `card_s`: how long each card takes, in seconds.
    """

    def __init__(
        self,
        folder: Path,
        key: SigningKey,
        *,
        table_address: str,
        tables: Sequence[str],
        seed: int,
        card_s: float = 0.0,
    ) -> None:
        self.log = folder / "reader.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._settings = {
            "UPCARD_TABLE_ADDRESS": table_address,
            "UPCARD_SIGNING_KEY_ID": key.key_id,
            "UPCARD_SIGNING_KEY": key.pem(),
            "UPCARD_READER_TABLES": ",".join(tables),
            "UPCARD_READER_SEED": str(seed),
            "UPCARD_READER_CARD_S": str(card_s),
        }

    def start(self) -> None:
        """Begin; `until_ready` waits."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("UPCARD_")}
        child = ["upcard_operate.local.child", str(os.getpid()), "upcard_operate.demo.reader"]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *child],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**kept, **self._settings},
                start_new_session=True,
            )

    def until_ready(self, within_s: float = START_S) -> None:
        """Wait until it reads. Raises ServiceFailed."""
        deadline = time.monotonic() + within_s
        while READY not in self.said():
            ended = self._process is None or self._process.poll() is not None
            if ended or time.monotonic() > deadline:
                said = self.said()[-_LAST_CHARACTERS:]
                raise ServiceFailed(f"the shoe reader {'ended' if ended else 'is late'}; it said:\n{said}")
            time.sleep(_PAUSE_S)

    def said(self) -> str:
        """All that it has said."""
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""

    def kill(self) -> None:
        """As a power cut."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(STOP_S)

    def stop(self) -> int | None:
        """Stop it in order, and kill it if that takes too long; its exit status, None where none ran."""
        if self._process is None:
            return None
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self.kill()
        return self._process.returncode

    def __enter__(self) -> Self:
        self.start()
        try:
            self.until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
