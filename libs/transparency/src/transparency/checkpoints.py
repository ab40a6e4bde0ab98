"""Checkpoints (C2SP tlog-checkpoint): how large a log's tree was, and its root then."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Final

from rules_core.merkle import HASH_BYTES
from transparency.notes import Note, NoteInvalid, SignerKey, VerifierKey

_is_size: Final = re.compile(r"0|[1-9][0-9]{0,18}").fullmatch
_is_origin: Final = re.compile(r"[^\s+]{1,200}").fullmatch
_LEAST_LINES: Final = 3


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The tree of a log at a size. Raises NoteInvalid."""

    origin: str
    """Which log: the name under which its keys sign, such as `upcard.example/table`."""
    size: int
    """How many leaves."""
    root: bytes
    extensions: tuple[str, ...] = ()
    """More lines, none of them empty."""

    def __post_init__(self) -> None:
        if not _is_origin(self.origin):
            raise NoteInvalid("an origin has 1 to 200 characters, no white space and no plus sign")
        if self.size < 0 or len(self.root) != HASH_BYTES:
            raise NoteInvalid("a checkpoint has a size from 0 and a root of 32 bytes")
        if any(not line or "\n" in line for line in self.extensions):
            raise NoteInvalid("an extension of a checkpoint is one line")

    @property
    def text(self) -> str:
        """What is signed."""
        lines = (self.origin, str(self.size), base64.b64encode(self.root).decode(), *self.extensions)
        return "".join(f"{line}\n" for line in lines)

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """Read what `text` gives. Raises NoteInvalid."""
        lines = text.split("\n")
        if len(lines) <= _LEAST_LINES or lines[-1]:
            raise NoteInvalid("a checkpoint is an origin, a size and a root, each on a line")
        origin, size, root, *extensions = lines[:-1]
        if not _is_size(size):
            raise NoteInvalid("a checkpoint's size is a whole number")
        try:
            raw = base64.b64decode(root, validate=True)
        except (binascii.Error, ValueError):
            raise NoteInvalid("a checkpoint's root is base64") from None
        found = cls(origin, int(size), raw, tuple(extensions))
        if found.text != text:
            raise NoteInvalid("a checkpoint is written in one form")
        return found

    def signed(self, *keys: SignerKey) -> Note:
        """It as a note with these signatures."""
        return Note(self.text, tuple(key.sign(self.text) for key in keys))


def opened(raw: bytes, origin: str, keys: tuple[VerifierKey, ...]) -> tuple[Checkpoint, Note]:
    """A checkpoint of this log that one of its keys signed. Raises NoteInvalid."""
    note = Note.parse(raw)
    found = Checkpoint.parse(note.text)
    if found.origin != origin:
        raise NoteInvalid(f"this is a checkpoint of {found.origin}, not of {origin}")
    if not note.verified(keys):
        raise NoteInvalid(f"no key of {origin} signed this checkpoint")
    return found, note
