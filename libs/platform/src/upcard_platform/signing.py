"""Signing calls to the platform API: what is signed, and how, with HMAC-SHA256 or RSA-SHA256.

The gateway checks with the same functions that a platform signs with.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import hashlib
import hmac
import re
from typing import Final, Literal, Protocol

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

__all__ = [
    "KEY_HEADER",
    "SIGNATURE_HEADER",
    "TIMESTAMP_HEADER",
    "Algorithm",
    "HmacSigner",
    "RsaSigner",
    "Signer",
    "decoded_signature",
    "fingerprint_of",
    "hmac_fits",
    "instant_of",
    "public_key_of",
    "rsa_fits",
    "signed_headers",
    "signed_text",
    "stamp",
]

KEY_HEADER: Final = "Upcard-Key"
TIMESTAMP_HEADER: Final = "Upcard-Timestamp"
SIGNATURE_HEADER: Final = "Upcard-Signature"

Algorithm = Literal["hmac-sha256", "rsa-sha256"]

SHORTEST_SECRET_BYTES: Final = 32
SMALLEST_RSA_BITS: Final = 2_048
LARGEST_RSA_BITS: Final = 8_192
_LONGEST_SIGNATURE: Final = 2 * LARGEST_RSA_BITS // 8
_STAMP: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")


class Signer(Protocol):
    """What signs calls with one key."""

    @property
    def key_id(self) -> str:
        """The id under which Upcard knows the key."""
        ...

    def sign(self, text: bytes) -> bytes:
        """The signature of a text."""
        ...


class HmacSigner:
    """Signs with a secret that both sides have."""

    def __init__(self, key_id: str, secret: bytes) -> None:
        """`secret`: the bytes, not their base64. Raises ValueError for one that is too short."""
        if len(secret) < SHORTEST_SECRET_BYTES:
            raise ValueError(f"a secret has {SHORTEST_SECRET_BYTES} bytes or more")
        self._key_id = key_id
        self._secret = secret

    @property
    def key_id(self) -> str:
        """The id under which Upcard knows the secret."""
        return self._key_id

    def sign(self, text: bytes) -> bytes:
        """HMAC-SHA256 of a text."""
        return hmac.digest(self._secret, text, "sha256")

    def __repr__(self) -> str:
        return f"HmacSigner({self._key_id!r})"


class RsaSigner:
    """Signs with a private key that never leaves the platform."""

    def __init__(self, key_id: str, private_key_pem: bytes) -> None:
        """`private_key_pem`: an RSA key in PEM, without a password. Raises ValueError for anything else."""
        try:
            key = serialization.load_pem_private_key(private_key_pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise ValueError("it has to be a private key in PEM, without a password") from None
        if not isinstance(key, rsa.RSAPrivateKey) or key.key_size < SMALLEST_RSA_BITS:
            raise ValueError(f"it has to be an RSA key of {SMALLEST_RSA_BITS} bits or more")
        self._key_id = key_id
        self._key = key

    @property
    def key_id(self) -> str:
        """The id under which Upcard knows the public half."""
        return self._key_id

    def sign(self, text: bytes) -> bytes:
        """RSA-SHA256 (PKCS#1 v1.5) of a text."""
        return self._key.sign(text, padding.PKCS1v15(), hashes.SHA256())

    def __repr__(self) -> str:
        return f"RsaSigner({self._key_id!r})"


def signed_text(method: str, target: str, timestamp: str, body: bytes) -> bytes:
    """What is signed: method, path with query, timestamp, SHA-256 of the body in hex; a line each.

    `target` is the path exactly as it is sent, percent-encoded; with `?` and the query where there is one.
    """
    return "\n".join((method.upper(), target, timestamp, hashlib.sha256(body).hexdigest())).encode()


def signed_headers(signer: Signer, method: str, target: str, body: bytes, now: dt.datetime) -> dict[str, str]:
    """The headers that make a call a signed one, for exactly these bytes."""
    timestamp = stamp(now)
    signature = signer.sign(signed_text(method, target, timestamp, body))
    return {
        KEY_HEADER: signer.key_id,
        TIMESTAMP_HEADER: timestamp,
        SIGNATURE_HEADER: base64.b64encode(signature).decode(),
    }


def stamp(moment: dt.datetime) -> str:
    """An instant as it is signed: `2026-01-31T12:00:00.000000Z`. Raises ValueError without a time zone."""
    if moment.tzinfo is None:
        raise ValueError("an instant needs its time zone")
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def instant_of(timestamp: str) -> dt.datetime:
    """The instant of a timestamp, which has one form only. Raises ValueError."""
    if not _STAMP.fullmatch(timestamp):
        raise ValueError("a timestamp is written 2026-01-31T12:00:00.000000Z")
    return dt.datetime.fromisoformat(timestamp)


def decoded_signature(text: str) -> bytes:
    """The bytes of a signature, which has one form only: canonical base64. Raises ValueError."""
    if len(text) > _LONGEST_SIGNATURE:
        raise ValueError("a signature is shorter")
    try:
        found = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("a signature is base64") from None
    if not found or base64.b64encode(found).decode() != text:
        raise ValueError("a signature is base64, in its canonical form")
    return found


def hmac_fits(secret: bytes, text: bytes, signature: bytes) -> bool:
    """Whether a signature is the HMAC-SHA256 of a text; takes as long whatever is wrong."""
    return hmac.compare_digest(hmac.digest(secret, text, "sha256"), signature)


def rsa_fits(public_key: rsa.RSAPublicKey, text: bytes, signature: bytes) -> bool:
    """Whether a signature is the RSA-SHA256 (PKCS#1 v1.5) of a text."""
    try:
        public_key.verify(signature, text, padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        return False
    return True


def public_key_of(pem: str) -> rsa.RSAPublicKey:
    """The RSA public key of a PEM text. Raises ValueError for anything else, also a size out of bounds."""
    try:
        key = serialization.load_pem_public_key(pem.encode())
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError("it has to be a public key in PEM") from None
    if not isinstance(key, rsa.RSAPublicKey):
        raise ValueError("it has to be an RSA key")  # noqa: TRY004 - the text is wrong, not its type
    if not SMALLEST_RSA_BITS <= key.key_size <= LARGEST_RSA_BITS:
        raise ValueError(f"it has to have {SMALLEST_RSA_BITS} to {LARGEST_RSA_BITS} bits")
    return key


def fingerprint_of(key: bytes | rsa.RSAPublicKey) -> str:
    """What people compare keys by: SHA-256 in hex, of the public key's DER; of a secret, keyed and shortened.

    Nothing of a secret can be found from it: a secret is random and of 32 bytes or more.
    """
    if isinstance(key, bytes):
        return hmac.digest(key, b"upcard key fingerprint v1", "sha256").hex()[:32]
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(der).hexdigest()
