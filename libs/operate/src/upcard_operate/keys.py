"""Keys and passwords for an installation, made afresh by the system's random numbers."""

from __future__ import annotations

import base64
import json
import secrets
from dataclasses import dataclass, field
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from servicekit.grpc import ContextSigner
from transparency.notes import SignerKey

KINDS: Final = "player+dealer+staff+platform"
"""What the gateway's key may vouch for."""
_PASSWORD_BYTES: Final = 24
_KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class SigningKey:
    """An Ed25519 key that vouches for who acts."""

    key_id: str
    key: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def generate(cls, key_id: str) -> SigningKey:
        """A new one."""
        return cls(key_id, Ed25519PrivateKey.generate())

    def signer(self) -> ContextSigner:
        """What signs calls with it."""
        return ContextSigner(self.key_id, self.key)

    def trusted(self, kinds: str = KINDS) -> str:
        """How services are told to trust it: the form of UPCARD_TRUSTED_KEYS."""
        public = self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return f"{self.key_id}:{kinds}:{base64.b64encode(public).decode()}"

    def pem(self) -> str:
        """The private key in PEM."""
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def password() -> str:
    """A new password of letters, digits, - and _."""
    return secrets.token_urlsafe(_PASSWORD_BYTES)


def service_secrets() -> dict[str, dict[str, str]]:
    """What each service has to keep secret beside its database's password: its settings, by service."""
    return {
        "table": {
            "UPCARD_CARD_KEYS": json.dumps({"cards-1": _key()}),
            "UPCARD_CARD_KEY": "cards-1",
            "UPCARD_SCAN_KEY": secrets.token_urlsafe(_KEY_BYTES),
            "UPCARD_RESUME_KEY": secrets.token_urlsafe(_KEY_BYTES),
        },
        "wallet": {},
        "bonus": {
            "UPCARD_JACKPOT_KEYS": json.dumps({"jackpots-1": _key()}),
            "UPCARD_JACKPOT_KEY": "jackpots-1",
        },
        "history": {},
        "gateway": {
            "UPCARD_SECRET_KEYS": json.dumps({"secrets-1": _key()}),
            "UPCARD_SECRET_KEY": "secrets-1",
            "UPCARD_LINK_KEYS": json.dumps({"links-1": _key()}),
            "UPCARD_LINK_KEY": "links-1",
        },
    }


def checkpoint_keys() -> dict[str, str]:
    """What signs the checkpoints of each service's log: seeds in base64, by service."""
    return {service: _key() for service in service_secrets()}


def local_origin(service: str) -> str:
    """The name of a service's log in the checkpoints of an installation that was given no other."""
    return f"upcard.local/{service}"


def checkpoint_key(origin: str, seed: str) -> str:
    """The public key of such a seed, as auditors are given it."""
    private = Ed25519PrivateKey.from_private_bytes(base64.b64decode(seed))
    return str(SignerKey(origin, private).verifier)


def _key() -> str:
    return base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode()
