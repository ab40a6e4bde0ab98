"""Where checkpoints lie outside the database: what was signed there cannot be unsigned here."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol

from transparency.notes import Note

_SUFFIX: Final = ".checkpoint"
_unsafe: Final = re.compile(r"[^A-Za-z0-9._-]")


class SinkDisagrees(Exception):
    """A sink keeps another checkpoint of this size: the log was rewritten, or two logs have one name."""


class Sink(Protocol):
    """Keeps checkpoints, and never another in the place of one."""

    @property
    def name(self) -> str:
        """Under which the database notes what lies there."""
        ...

    async def keep(self, origin: str, size: int, note: Note) -> None:
        """Keep a checkpoint, durably. The same again is kept already. Raises SinkDisagrees, OSError."""
        ...


class FileSink:
    """A folder, best on another machine's disk: a file a checkpoint, named by its size."""

    def __init__(self, folder: Path, name: str = "files") -> None:
        self.name = name
        self._folder = folder

    async def keep(self, origin: str, size: int, note: Note) -> None:
        """Write the file, flushed to the disk, or find the same text there."""
        await asyncio.to_thread(self._keep, self._of(origin), size, note)

    def kept(self, origin: str) -> Iterator[bytes]:
        """The checkpoints of a log that lie here, smallest first."""
        folder = self._of(origin)
        for path in sorted(folder.glob(f"*{_SUFFIX}")) if folder.exists() else ():
            yield path.read_bytes()

    def _of(self, origin: str) -> Path:
        return self._folder / _unsafe.sub("_", origin)

    def _keep(self, folder: Path, size: int, note: Note) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{size:020d}{_SUFFIX}"
        beside = folder / f".{size:020d}.{os.getpid()}"
        with beside.open("wb") as file:
            file.write(bytes(note))
            file.flush()
            os.fsync(file.fileno())
        try:
            # Unlike a rename, a link never takes another file's place.
            os.link(beside, path)
        except FileExistsError:
            if Note.parse(path.read_bytes()).text != note.text:
                raise SinkDisagrees(f"{path.name} of {self.name} is another checkpoint") from None
        finally:
            beside.unlink()
        directory = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
