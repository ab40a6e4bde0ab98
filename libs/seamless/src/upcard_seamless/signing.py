"""Signing what is sent to a partner, and checking it on the partner's side."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass
from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from upcard_seamless.dialects import Signature

_LEAST_SECRET = 16
_LEAST_RSA_BITS = 2048


class KeyInvalid(Exception):
    """A secret or key that does not fit the dialect's scheme; the text says what is wanted."""


class Signer(Protocol):
    """Signs bodies."""

    def sign(self, body: bytes) -> str:
        """The value of the signature's header."""
        ...


class Verifier(Protocol):
    """Checks signatures."""

    def fits(self, body: bytes, said: str) -> bool:
        """Whether the header's value signs this body."""
        ...


@dataclass(frozen=True, slots=True, repr=False)
class _Hmac:
    signature: Signature
    secret: bytes

    def sign(self, body: bytes) -> str:
        return _encoded(self.signature, hmac.new(self.secret, body, hashlib.sha256).digest())

    def fits(self, body: bytes, said: str) -> bool:
        made = _decoded(self.signature, said)
        return made is not None and hmac.compare_digest(
            made, hmac.new(self.secret, body, hashlib.sha256).digest()
        )


@dataclass(frozen=True, slots=True, repr=False)
class _RsaSigner:
    signature: Signature
    key: rsa.RSAPrivateKey

    def sign(self, body: bytes) -> str:
        return _encoded(self.signature, self.key.sign(body, padding.PKCS1v15(), hashes.SHA256()))


@dataclass(frozen=True, slots=True, repr=False)
class _RsaVerifier:
    signature: Signature
    key: rsa.RSAPublicKey

    def fits(self, body: bytes, said: str) -> bool:
        made = _decoded(self.signature, said)
        if made is None:
            return False
        try:
            self.key.verify(made, body, padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            return False
        return True


def signer_of(signature: Signature, secret: bytes) -> Signer:
    """Our side: `secret` is the shared secret, or our RSA private key as PEM. Raises KeyInvalid."""
    if signature.scheme == "hmac-sha256":
        return _Hmac(signature, _shared(secret))
    return _RsaSigner(signature, _private(secret))


def verifier_of(signature: Signature, secret: bytes) -> Verifier:
    """The partner's side: the shared secret, or our RSA public key as PEM (tests may give a private one)."""
    if signature.scheme == "hmac-sha256":
        return _Hmac(signature, _shared(secret))
    if b"PRIVATE" in secret:
        return _RsaVerifier(signature, _private(secret).public_key())
    try:
        key = serialization.load_pem_public_key(secret)
    except (ValueError, TypeError):
        raise KeyInvalid("rsa-sha256 wants an RSA public key as PEM (BEGIN PUBLIC KEY)") from None
    if not isinstance(key, rsa.RSAPublicKey):
        raise KeyInvalid("rsa-sha256 wants an RSA key, this is another kind")
    return _RsaVerifier(signature, key)


def new_rsa_key() -> tuple[bytes, bytes]:
    """A new private key and its public key, both as PEM: one for us, one for the partner."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=_LEAST_RSA_BITS)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private, public


def _shared(secret: bytes) -> bytes:
    if len(secret) < _LEAST_SECRET:
        raise KeyInvalid(f"hmac-sha256 wants a secret of {_LEAST_SECRET} bytes or more")
    return secret


def _private(secret: bytes) -> rsa.RSAPrivateKey:
    try:
        key = serialization.load_pem_private_key(secret, password=None)
    except (ValueError, TypeError):
        raise KeyInvalid(
            "rsa-sha256 wants an RSA private key as PEM, without a password (BEGIN PRIVATE KEY)"
        ) from None
    if not isinstance(key, rsa.RSAPrivateKey):
        raise KeyInvalid("rsa-sha256 wants an RSA key, this is another kind")
    if key.key_size < _LEAST_RSA_BITS:
        raise KeyInvalid(f"rsa-sha256 wants a key of {_LEAST_RSA_BITS} bits or more")
    return key


def _encoded(signature: Signature, made: bytes) -> str:
    text = made.hex() if signature.encoding == "hex" else base64.b64encode(made).decode()
    return signature.prefix + text


def _decoded(signature: Signature, said: str) -> bytes | None:
    if not said.startswith(signature.prefix):
        return None
    text = said[len(signature.prefix) :]
    try:
        return bytes.fromhex(text) if signature.encoding == "hex" else base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return None
