"""Signed notes (C2SP signed-note): a text for people and machines, with signatures below it.

A key has a name, and an id of four bytes that follows from name, algorithm and public key. Whoever reads a
note passes over signatures by keys that they do not know; one by a known key that does not fit spoils it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ED25519: Final = 0x01
"""Signs the text of a note."""
COSIGNATURE: Final = 0x04
"""A witness's: signs the text of a checkpoint with the time at which it was seen (C2SP tlog-cosignature)."""

_MOST_BYTES: Final = 1_000_000
_MOST_SIGNATURES: Final = 100
_KEY_ID_BYTES: Final = 4
_KEY_BYTES: Final = 32
_SIGNATURE_BYTES: Final = 64
_TIME_BYTES: Final = 8
_MARK: Final = "\u2014 "
_is_name: Final = re.compile(r"[^\s+]{1,200}").fullmatch
_control: Final = re.compile(r"[\x00-\x09\x0b-\x1f]").search


class NoteInvalid(ValueError):
    """This is no note, no key of one, or signed by none of those who have to; the message says why."""


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key that signs notes. Raises NoteInvalid."""

    name: str
    public: bytes
    algorithm: Literal[0x01, 0x04] = ED25519

    def __post_init__(self) -> None:
        if not _is_name(self.name):
            raise NoteInvalid("a key's name has 1 to 200 characters, no white space and no plus sign")
        if self.algorithm not in {ED25519, COSIGNATURE} or len(self.public) != _KEY_BYTES:
            raise NoteInvalid("a key is one of Ed25519, 32 bytes, and of algorithm 1 or 4")

    @property
    def key_id(self) -> bytes:
        """Four bytes that tell keys of one name apart."""
        named = self.name.encode() + b"\n" + bytes([self.algorithm]) + self.public
        return sha256(named).digest()[:_KEY_ID_BYTES]

    def __str__(self) -> str:
        """As keys are written down and passed on: name, id and key with plus signs between."""
        key = base64.b64encode(bytes([self.algorithm]) + self.public).decode()
        return f"{self.name}+{self.key_id.hex()}+{key}"

    @classmethod
    def parse(cls, text: str) -> VerifierKey:
        """Read what `str` writes. Raises NoteInvalid, also where the id is not the key's."""
        parts = text.split("+", 2)
        if len(parts) != len(("name", "id", "key")):
            raise NoteInvalid("a key is written NAME+ID+KEY")
        raw = _decoded(parts[2], "a key")
        if len(raw) != 1 + _KEY_BYTES:
            raise NoteInvalid("a key has an algorithm and 32 bytes")
        found = cls(parts[0], raw[1:], raw[0])  # type: ignore[arg-type]  # __post_init__ checks it
        if parts[1] != found.key_id.hex():
            raise NoteInvalid(f"the key of {found.name} has the id {found.key_id.hex()}, not {parts[1][:20]}")
        return found


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature below a note, by whom it says it is."""

    name: str
    key_id: bytes
    value: bytes

    def __str__(self) -> str:
        """Its line, without the end of the line."""
        return f"{_MARK}{self.name} {base64.b64encode(self.key_id + self.value).decode()}"


@dataclass(frozen=True, slots=True)
class Note:
    """A text that ends with a line's end, and what was signed below it."""

    text: str
    signatures: tuple[Signature, ...]

    def __bytes__(self) -> bytes:
        """The note as it is kept and passed on."""
        return (self.text + "\n" + "".join(f"{one}\n" for one in self.signatures)).encode()

    @classmethod
    def parse(cls, raw: bytes) -> Note:
        """Read a note. Raises NoteInvalid."""
        if len(raw) > _MOST_BYTES:
            raise NoteInvalid(f"a note has at most {_MOST_BYTES} bytes")
        try:
            whole = raw.decode()
        except UnicodeDecodeError:
            raise NoteInvalid("a note is UTF-8") from None
        text, gap, below = whole.rpartition("\n\n")
        if not gap or not below.endswith("\n") or _control(whole):
            raise NoteInvalid("a note is lines of text, an empty line, and lines of signatures")
        lines = below.removesuffix("\n").split("\n")
        if len(lines) > _MOST_SIGNATURES:
            raise NoteInvalid(f"a note has at most {_MOST_SIGNATURES} signatures")
        return cls(text + "\n", tuple(_signature(line) for line in lines))

    def verified(self, keys: Iterable[VerifierKey]) -> frozenset[str]:
        """Whose signatures, of these keys, are below it. Raises NoteInvalid: one of theirs does not fit."""
        known = {(key.name, key.key_id): key for key in keys}
        found = set()
        for one in self.signatures:
            key = known.get((one.name, one.key_id))
            if key is None:
                continue
            if not _fits(key, self.text, one.value):
                raise NoteInvalid(f"the signature of {key.name} does not fit the text")
            found.add(key.name)
        return frozenset(found)

    def with_signatures(self, more: Iterable[Signature]) -> Note:
        """It with signatures that it does not have yet."""
        new = [one for one in more if one not in self.signatures]
        return Note(self.text, (*self.signatures, *new))


@dataclass(frozen=True, slots=True)
class SignerKey:
    """A private key that signs notes."""

    name: str
    private: Ed25519PrivateKey
    algorithm: Literal[0x01, 0x04] = ED25519

    @property
    def verifier(self) -> VerifierKey:
        """What its signatures are checked with."""
        return VerifierKey(self.name, self.private.public_key().public_bytes_raw(), self.algorithm)

    def sign(self, text: str) -> Signature:
        """Sign a note's text. Raises NoteInvalid: it is not text that ends with a line's end."""
        if not text.endswith("\n") or _control(text):
            raise NoteInvalid("what is signed is lines of text")
        if self.algorithm != ED25519:
            raise NoteInvalid("a witness's key signs what it saw at a time: cosign")
        return Signature(self.name, self.verifier.key_id, self.private.sign(text.encode()))

    def cosign(self, text: str, at_s: int) -> Signature:
        """Sign, as a witness, that this text was seen then, in seconds since 1970. Raises NoteInvalid."""
        if self.algorithm != COSIGNATURE:
            raise NoteInvalid("a log's key signs texts: sign")
        value = at_s.to_bytes(_TIME_BYTES, "big") + self.private.sign(_witnessed(text, at_s))
        return Signature(self.name, self.verifier.key_id, value)


def _fits(key: VerifierKey, text: str, value: bytes) -> bool:
    message = text.encode()
    if key.algorithm == COSIGNATURE:
        if len(value) != _TIME_BYTES + _SIGNATURE_BYTES:
            return False
        message, value = _witnessed(text, int.from_bytes(value[:_TIME_BYTES], "big")), value[_TIME_BYTES:]
    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(value, message)
    except InvalidSignature:
        return False
    return True


def _witnessed(text: str, at_s: int) -> bytes:
    return f"cosignature/v1\ntime {at_s}\n{text}".encode()


def _signature(line: str) -> Signature:
    name, gap, value = line.removeprefix(_MARK).partition(" ")
    if not line.startswith(_MARK) or not gap or not _is_name(name):
        raise NoteInvalid("a signature's line is a dash, a name and a value, with one space between")
    raw = _decoded(value, "a signature")
    if len(raw) <= _KEY_ID_BYTES:
        raise NoteInvalid("a signature has the key's id and a value")
    return Signature(name, raw[:_KEY_ID_BYTES], raw[_KEY_ID_BYTES:])


def _decoded(text: str, what: str) -> bytes:
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise NoteInvalid(f"{what} is base64") from None
    if base64.b64encode(raw).decode() != text:
        raise NoteInvalid(f"{what} is base64 in its one form")
    return raw
