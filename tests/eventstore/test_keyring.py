"""The keyring: rotation, binding to a place, and silence."""

from __future__ import annotations

import pytest

from eventstore import Keyring, PrivatePartUnreadable, UnknownKey
from tests.eventstore.samples import KEY_A, KEY_B

PLAIN = b"16 random bytes.Ah"


def test_what_was_encrypted_is_decrypted() -> None:
    ring = Keyring({"a": KEY_A}, writes_with="a")
    key_id, sealed = ring.encrypt(PLAIN, "round-t1.1", 3)
    assert key_id == "a"
    assert PLAIN not in sealed
    assert ring.decrypt(key_id, sealed, "round-t1.1", 3) == PLAIN


def test_the_same_part_never_looks_the_same() -> None:
    ring = Keyring({"a": KEY_A}, writes_with="a")
    assert len({ring.encrypt(PLAIN, "round-t1.1", 3)[1] for _ in range(100)}) == 100


def test_after_a_rotation_old_parts_are_read_and_new_ones_use_the_new_key() -> None:
    old = Keyring({"a": KEY_A}, writes_with="a").encrypt(PLAIN, "round-t1.1", 3)
    ring = Keyring({"a": KEY_A, "b": KEY_B}, writes_with="b")
    assert ring.decrypt(*old, "round-t1.1", 3) == PLAIN
    assert ring.encrypt(PLAIN, "round-t1.1", 4)[0] == "b"


def test_without_its_key_a_part_is_unreadable() -> None:
    old = Keyring({"a": KEY_A}, writes_with="a").encrypt(PLAIN, "round-t1.1", 3)
    with pytest.raises(UnknownKey):
        Keyring({"b": KEY_B}, writes_with="b").decrypt(*old, "round-t1.1", 3)


@pytest.mark.parametrize(("stream", "position"), [("round-t1.1", 4), ("round-t1.2", 3), ("round-t1.", 13)])
def test_a_part_does_not_decrypt_in_another_place(stream: str, position: int) -> None:
    ring = Keyring({"a": KEY_A}, writes_with="a")
    key_id, sealed = ring.encrypt(PLAIN, "round-t1.1", 3)
    with pytest.raises(PrivatePartUnreadable):
        ring.decrypt(key_id, sealed, stream, position)


@pytest.mark.parametrize("place", [0, 11, 12, 20, -1])
def test_a_changed_part_does_not_decrypt_and_says_nothing(place: int) -> None:
    ring = Keyring({"a": KEY_A}, writes_with="a")
    key_id, sealed = ring.encrypt(PLAIN, "round-t1.1", 3)
    changed = bytearray(sealed)
    changed[place] ^= 1
    with pytest.raises(PrivatePartUnreadable) as unreadable:
        ring.decrypt(key_id, bytes(changed), "round-t1.1", 3)
    assert "Ah" not in str(unreadable.value)
    assert unreadable.value.__context__ is None


def test_keys_do_not_show() -> None:
    text = repr(Keyring({"a": KEY_A, "b": KEY_B}, writes_with="b"))
    assert text == "Keyring(key_ids=['a', 'b'], writes_with='b')"


@pytest.mark.parametrize("keys", [{"a": b"short"}, {"": KEY_A}, {"a\n": KEY_A}])
def test_a_key_is_32_bytes_and_has_a_name(keys: dict[str, bytes]) -> None:
    with pytest.raises(ValueError, match="key"):
        Keyring(keys, writes_with=next(iter(keys)))


def test_the_writing_key_is_one_of_them() -> None:
    with pytest.raises(UnknownKey):
        Keyring({"a": KEY_A}, writes_with="b")
