"""Signed notes and checkpoints: written in one form, read strictly, signed by who is known."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from transparency.checkpoints import Checkpoint, opened
from transparency.notes import COSIGNATURE, Note, NoteInvalid, SignerKey, VerifierKey

ROOT = bytes(range(32))


def key(name: str = "log.test/one", seed: int = 1, algorithm: int = 1) -> SignerKey:
    private = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
    return SignerKey(name, private, algorithm)  # type: ignore[arg-type]  # an int, of which the test gives 1 or 4


def test_a_key_is_written_and_read() -> None:
    verifier = key().verifier
    assert VerifierKey.parse(str(verifier)) == verifier
    name, key_id, raw = str(verifier).split("+", 2)
    assert (name, key_id) == ("log.test/one", verifier.key_id.hex())
    assert base64.b64decode(raw)[0] == 1
    # The public key that the description of the format has for an example, with the id that follows from it.
    known = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    assert str(VerifierKey.parse(known)) == known


@pytest.mark.parametrize(
    "text",
    ["", "a+b", "a b+00000000+AQ==", "log+00000000+!!", "log+00000000+AQ==", "log+00000000+" + "A" * 44],
)
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(NoteInvalid):
        VerifierKey.parse(text)


def test_a_note_is_signed_and_read_again() -> None:
    text = "one line\n\nanother after an empty one\n"
    one, other, stranger = key(), key("log.test/two", 2), key("log.test/two", 3)
    note = Note(text, (one.sign(text), other.sign(text), stranger.sign(text)))
    read = Note.parse(bytes(note))
    assert read == note
    assert read.verified([one.verifier]) == {"log.test/one"}
    assert read.verified([one.verifier, other.verifier]) == {"log.test/one", "log.test/two"}
    assert read.verified([]) == frozenset()
    # A key of the same name is another key.
    assert Note(text, (stranger.sign(text),)).verified([other.verifier]) == frozenset()


def test_a_signature_that_does_not_fit_spoils_a_note() -> None:
    signed = key().sign("a text\n")
    with pytest.raises(NoteInvalid, match="does not fit"):
        Note("another text\n", (signed,)).verified([key().verifier])


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_no_changed_byte_of_a_signed_checkpoint_passes(at: int, by: int) -> None:
    raw = bytes(Checkpoint("log.test/one", 7, ROOT).signed(key()))
    at %= len(raw)
    if raw[at] == by:
        return
    with pytest.raises(NoteInvalid):
        opened(raw[:at] + bytes([by]) + raw[at + 1 :], "log.test/one", (key().verifier,))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"text\n",
        b"text\n\n",
        b"text\n\nno signature\n",
        b"text\n\n\xe2\x80\x94 name\n",
        b"text\n\n\xe2\x80\x94 name AAAA\n",
        b"text\n\n\xe2\x80\x94 name AAAAAAA=\n\xe2\x80\x94 name AAAAAAA",
        b"t\x00ext\n\n\xe2\x80\x94 name AAAAAAA=\n",
        b"\xff\n\n\xe2\x80\x94 name AAAAAAA=\n",
        b"text\n\n" + b"\xe2\x80\x94 name AAAAAAA=\n" * 101,
        b"x" * 1_000_001,
    ],
)
def test_what_is_no_note_is_refused(raw: bytes) -> None:
    with pytest.raises(NoteInvalid):
        Note.parse(raw)


def test_a_witness_signs_when_it_saw_a_text() -> None:
    text = Checkpoint("log.test/one", 7, ROOT).text
    witness = key("witness.test", 4, COSIGNATURE)
    note = Note(text, (key().sign(text), witness.cosign(text, 1_700_000_000)))
    assert Note.parse(bytes(note)).verified([witness.verifier]) == {"witness.test"}
    assert str(VerifierKey.parse(str(witness.verifier))) == str(witness.verifier)
    at = int.from_bytes(note.signatures[1].value[:8], "big")
    assert at == 1_700_000_000
    later = note.signatures[1].value[:7] + b"\xff" + note.signatures[1].value[8:]
    changed = Note(text, (type(note.signatures[1])("witness.test", witness.verifier.key_id, later),))
    with pytest.raises(NoteInvalid):
        changed.verified([witness.verifier])
    with pytest.raises(NoteInvalid):
        witness.sign(text)
    with pytest.raises(NoteInvalid):
        key().cosign(text, 1)


def test_a_checkpoint_says_origin_size_and_root() -> None:
    made = Checkpoint("log.test/one", 20_852_163, ROOT, ("an extension",))
    assert made.text.splitlines() == [
        "log.test/one",
        "20852163",
        base64.b64encode(ROOT).decode(),
        "an extension",
    ]
    assert Checkpoint.parse(made.text) == made


@pytest.mark.parametrize(
    "text",
    [
        "",
        "log\n",
        "log\n1\n",
        "log\n01\n" + base64.b64encode(ROOT).decode() + "\n",
        "log\n-1\n" + base64.b64encode(ROOT).decode() + "\n",
        "log\n1\nAAAA\n",
        "log\n1\n!\n",
        "a log\n1\n" + base64.b64encode(ROOT).decode() + "\n",
        "log\n1\n" + base64.b64encode(ROOT).decode() + "\n\n",
        "log\n1\n" + base64.b64encode(ROOT).decode(),
    ],
)
def test_what_is_no_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(NoteInvalid):
        Checkpoint.parse(text)


def test_a_checkpoint_of_another_log_or_by_nobody_known_is_refused() -> None:
    raw = bytes(Checkpoint("log.test/one", 7, ROOT).signed(key()))
    with pytest.raises(NoteInvalid, match="not of"):
        opened(raw, "log.test/two", (key().verifier,))
    with pytest.raises(NoteInvalid, match="no key"):
        opened(raw, "log.test/one", (key(seed=9).verifier,))
    with pytest.raises(NoteInvalid):
        Checkpoint("log.test/one", -1, ROOT)
    with pytest.raises(NoteInvalid):
        Checkpoint("log.test/one", 1, ROOT, ("two\nlines",))
    with pytest.raises(NoteInvalid):
        key().sign("no end of line")
