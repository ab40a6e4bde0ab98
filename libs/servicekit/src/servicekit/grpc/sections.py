"""The settings of services that speak gRPC, read from the environment like all others.

`class TableSettings(ServiceSettings, DatabaseSettings, GrpcSettings): ...` reads `UPCARD_GRPC__PORT`,
`UPCARD_GRPC__TLS__KEY_FILE`, `UPCARD_CALLS__TLS__AUTHORITIES_FILE`, `UPCARD_TRUSTED_KEYS` and so on.
"""

import base64

from pydantic import Field, SecretStr, field_validator

from servicekit.grpc.actors import ActorKind
from servicekit.grpc.settings import ClientSettings, ServerSettings
from servicekit.grpc.signing import ContextSigner, is_key_id, signer_from_pem
from servicekit.grpc.verifying import ContextVerifier, TrustedKey, trusted_key
from servicekit.settings import Settings


class GrpcSettings(Settings):
    """How a service serves and calls, and whom it believes who acts."""

    grpc: ServerSettings = Field(default_factory=ServerSettings, description="how to serve")
    calls: ClientSettings = Field(default_factory=ClientSettings, description="how to call other services")
    trusted_keys: tuple[str, ...] = Field(
        default=(),
        description="keys that vouch for who acts, with commas between, each as id:kinds:key, such as "
        "gateway-1:player+staff+platform:<32 bytes in base64>",
    )

    @field_validator("trusted_keys")
    @classmethod
    def _keys(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        ids = [_trusted(text).key_id for text in value]
        if len(set(ids)) != len(ids):
            raise ValueError("two keys have the same id")
        return value

    def verifier(self, service: str) -> ContextVerifier:
        """What checks the signed contexts of calls to this service."""
        return ContextVerifier(service, [_trusted(text) for text in self.trusted_keys])


class SigningSettings(Settings):
    """How the gateway vouches for who acts."""

    signing_key_id: str = Field(description="the name under which services trust the key")
    signing_key: SecretStr = Field(
        description="the Ed25519 private key, in PEM, or the base64 of that on one line"
    )

    @field_validator("signing_key_id")
    @classmethod
    def _key_id(cls, value: str) -> str:
        if not is_key_id(value):
            raise ValueError("it has to be 1 to 64 letters, digits, dots, - and _")
        return value

    @field_validator("signing_key")
    @classmethod
    def _key(cls, value: SecretStr) -> SecretStr:
        pem = _pem(value.get_secret_value())
        signer_from_pem("checked", pem.encode())
        return SecretStr(pem)

    def signer(self) -> ContextSigner:
        """What signs the contexts of calls."""
        return signer_from_pem(self.signing_key_id, self.signing_key.get_secret_value().encode())


def _pem(text: str) -> str:
    """A key in PEM, which may come as base64: files of variables have one line a value."""
    if "-----BEGIN" in text:
        return text
    try:
        return base64.b64decode(text, validate=True).decode("ascii")
    except ValueError:
        return text  # what is wrong with it is said where it is read


def _trusted(text: str) -> TrustedKey:
    parts = text.split(":")
    if len(parts) != 3:
        raise ValueError("each key has to be id:kinds:key")
    key_id, kinds, key = parts
    by_name = {kind.name.lower(): kind for kind in ActorKind}
    unknown = [name for name in kinds.split("+") if name not in by_name]
    if unknown:
        raise ValueError(f"the kinds are {', '.join(by_name)}, with + between")
    return trusted_key(key_id, key, [by_name[name] for name in kinds.split("+")])
