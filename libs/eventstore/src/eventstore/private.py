"""Private parts: AES-256-GCM, with the event's place sealed in, under keys that can be rotated."""

import os
from collections.abc import Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from eventstore.errors import PrivatePartUnreadable, UnknownKey

NONCE_BYTES = 12
KEY_BYTES = 32
_LONGEST_KEY_ID = 100


class Keyring:
    """Keys by id: one writes, all of them read.

    Rotation is a new key that writes, beside the old ones, which stay for as long as what they encrypted is
    to be read; dropping a key makes that unreadable for ever. Change the writing key before it has
    encrypted 2^32 parts (the bound of random nonces). Keys never show in `repr`.
    """

    __slots__ = ("_ciphers", "_writes_with")

    def __init__(self, keys: Mapping[str, bytes], *, writes_with: str) -> None:
        for key_id, key in keys.items():
            if len(key) != KEY_BYTES:
                raise ValueError(f"key {key_id} has {len(key)} bytes, not {KEY_BYTES}")
            if not 0 < len(key_id) <= _LONGEST_KEY_ID or not key_id.isprintable():
                raise ValueError(f"a key's id is 1 to {_LONGEST_KEY_ID} printable characters, not {key_id!r}")
        if writes_with not in keys:
            raise UnknownKey(f"the key to write with, {writes_with}, is not in the keyring")
        self._ciphers = {key_id: AESGCM(key) for key_id, key in keys.items()}
        self._writes_with = writes_with

    def __repr__(self) -> str:
        return f"Keyring(key_ids={sorted(self._ciphers)}, writes_with={self._writes_with!r})"

    def encrypt(self, plain: bytes, stream: str, position: int) -> tuple[str, bytes]:
        """Key id and ciphertext (nonce, encrypted bytes, tag), bound to this place and no other."""
        nonce = os.urandom(NONCE_BYTES)
        sealed = self._ciphers[self._writes_with].encrypt(nonce, plain, _place(stream, position))
        return self._writes_with, nonce + sealed

    def decrypt(self, key_id: str, ciphertext: bytes, stream: str, position: int) -> bytes:
        """The private part. Raises UnknownKey, PrivatePartUnreadable.

        Neither tells anything of its content.
        """
        cipher = self._ciphers.get(key_id)
        if cipher is None:
            raise UnknownKey(f"{stream} at {position}: key {key_id} is not in the keyring")
        nonce, sealed = ciphertext[:NONCE_BYTES], ciphertext[NONCE_BYTES:]
        try:
            return cipher.decrypt(nonce, sealed, _place(stream, position))
        except InvalidTag:
            pass
        raise PrivatePartUnreadable(f"{stream} at {position}: does not decrypt with key {key_id}")


def _place(stream: str, position: int) -> bytes:
    # The number first, in a fixed width: no other pair gives the same bytes.
    return position.to_bytes(8, "big") + stream.encode()
