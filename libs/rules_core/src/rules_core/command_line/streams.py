"""Reading with bounds, and writing: all that the commands know of files."""

from __future__ import annotations

from dataclasses import dataclass
from io import FileIO
from typing import BinaryIO, Final

from rules_core.command_line.failure import Failure

_CHUNK_BYTES: Final = 1 << 20
_STANDARD_INPUT: Final = "-"


@dataclass(frozen=True, slots=True)
class Streams:
    """Where a command reads from and writes to."""

    stdin: BinaryIO | None
    """None where the program was started without one."""
    stdout: BinaryIO

    def write(self, text: str) -> None:
        """Write text as UTF-8. An argument that was no UTF-8 keeps its bytes as escapes."""
        self.stdout.write(text.encode("utf-8", "backslashreplace"))

    def source(self) -> BinaryIO:
        """The standard input; Failure where there is none."""
        if self.stdin is None:
            raise Failure("file_unreadable", "there is no standard input")
        return self.stdin


def display_name(name: str) -> str:
    """How a message names the file of an argument."""
    return "standard input" if name == _STANDARD_INPUT else name


def read_bounded(name: str, streams: Streams, *, bytes_max: int) -> bytes:
    """The whole file, or standard input for `-`.

    Never holds much more than `bytes_max`, however long the input is. Raises Failure for what cannot be
    read or is longer.
    """
    try:
        if name == _STANDARD_INPUT:
            return _read(name, streams.source(), bytes_max)
        with FileIO(name, "rb") as file:
            return _read(name, file, bytes_max)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        why = getattr(error, "strerror", None) or str(error)
        raise Failure("file_unreadable", f"{display_name(name)} cannot be read: {why}") from None


def _read(name: str, file: BinaryIO | FileIO, bytes_max: int) -> bytes:
    found = bytearray()
    while chunk := file.read(min(_CHUNK_BYTES, bytes_max + 1 - len(found))):
        found += chunk
        if len(found) > bytes_max:
            raise Failure("input_too_large", f"{display_name(name)} is longer than {bytes_max} bytes")
    return bytes(found)
