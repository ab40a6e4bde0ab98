"""The gateway's settings, read from the environment (`UPCARD_…`) and nowhere else.

Each part of the edge has its own, in a module beside this one; all of them make up `GatewaySettings`.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Final

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from eventstore.private import Keyring
from messaging.service import ConnectedSettings
from servicekit.grpc import SigningSettings
from servicekit.settings import DatabaseSettings, ServiceSettings
from transparency.service import CheckpointSettings
from upcard_gateway.settings.chat import ChatSettings
from upcard_gateway.settings.floor import FloorSettings
from upcard_gateway.settings.keys import checked_keys, raw_key
from upcard_gateway.settings.links import LinkSettings
from upcard_gateway.settings.lobby import LobbySettings
from upcard_gateway.settings.operations import OperationsSettings
from upcard_gateway.settings.play import PlaySettings
from upcard_gateway.settings.sessions import SessionSettings
from upcard_gateway.settings.staff import StaffSettings
from upcard_gateway.settings.webhooks import WebhookSettings

__all__ = ["GatewaySettings"]

_ADDRESS: Final = re.compile(r"[^\s:/]+:[0-9]{1,5}|\[[0-9a-fA-F:]+\]:[0-9]{1,5}")
_PUBLIC_URL: Final = re.compile(r"https?://[^\s/?#@]+(/[^\s?#]*)?")
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class HttpSettings(SigningSettings):
    """How the gateway listens, calls the services behind it, and lets platforms in."""

    table_address: str = Field(description="host:port of the table service")
    wallet_address: str = Field(description="host:port of the wallet")
    bonus_address: str = Field(description="host:port of the bonus service")
    history_address: str = Field(description="host:port of the history")

    http_host: str = Field(default="127.0.0.1", description="the address to listen on for HTTP")
    http_port: int = Field(default=0, ge=0, le=65_535, description="the port for HTTP, or 0 for a free one")
    public_url: str = Field(
        default="http://127.0.0.1",
        description="where players and platforms reach this, such as https://play.example; links begin so",
    )
    trusted_proxies: tuple[str, ...] = Field(
        default=(),
        description="networks of proxies whose X-Forwarded-For is believed, with commas between",
    )
    http_calls_max: int = Field(
        default=512,
        ge=1,
        le=100_000,
        description="most calls over HTTP that are served at a time",
    )
    http_body_max_bytes: int = Field(
        default=262_144, ge=1_024, le=16_777_216, description="most bytes of a call's body"
    )
    http_call_max_s: Seconds = Field(
        default=30.0, description="the longest that a call over HTTP may take, in seconds"
    )
    http_stream_max_s: Seconds = Field(
        default=600.0, description="the longest that an answer may take from its beginning on, in seconds"
    )

    signature_window_s: Annotated[float, Field(ge=1, le=600, allow_inf_nan=False)] = Field(
        default=60.0, description="by how much a signed timestamp may differ from our clock, in seconds"
    )
    operators_fresh_s: Annotated[float, Field(ge=0, le=60, allow_inf_nan=False)] = Field(
        default=1.0, description="how old an operator's record may be that a call is checked by, in seconds"
    )
    sandbox_tables: frozenset[str] = Field(
        default=frozenset(), description="tables that sandbox operators see, as JSON, and no others"
    )
    secret_keys: dict[str, SecretStr] = Field(
        description='what encrypts operators\' secrets, by id, as JSON, such as {"k1": "32 bytes in base64"}'
    )
    secret_key: str = Field(description="the id of the key of UPCARD_SECRET_KEYS that encrypts new secrets")

    @field_validator("table_address", "wallet_address", "bonus_address", "history_address")
    @classmethod
    def _host_and_port(cls, value: str) -> str:
        if not _ADDRESS.fullmatch(value):
            raise ValueError("it has to be host:port")
        return value

    @field_validator("public_url")
    @classmethod
    def _public_url(cls, value: str) -> str:
        if not _PUBLIC_URL.fullmatch(value):
            raise ValueError("it has to begin with https:// or http://, without name and password")
        return value.rstrip("/")

    @field_validator("trusted_proxies")
    @classmethod
    def _proxies(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            try:
                ipaddress.ip_network(one)
            except ValueError:
                raise ValueError("each has to be a network, such as 10.0.0.0/8") from None
        return value

    @field_validator("secret_keys")
    @classmethod
    def _secret_keys(cls, value: dict[str, SecretStr]) -> dict[str, SecretStr]:
        checked_keys(value)
        return value

    @field_validator("secret_key")
    @classmethod
    def _secret_key(cls, value: str, others: ValidationInfo) -> str:
        keys = others.data.get("secret_keys")
        if keys is not None and value not in keys:
            raise ValueError("it has to be one of the ids of UPCARD_SECRET_KEYS")
        return value

    def keyring(self) -> Keyring:
        """What operators' secrets are encrypted and read with."""
        return Keyring(self.raw_secret_keys(), writes_with=self.secret_key)

    def raw_secret_keys(self) -> dict[str, bytes]:
        """The keys of the ring by their ids, for what is derived from them."""
        return {key_id: raw_key(secret) for key_id, secret in self.secret_keys.items()}


class GatewaySettings(
    ServiceSettings,
    DatabaseSettings,
    ConnectedSettings,
    CheckpointSettings,
    HttpSettings,
    SessionSettings,
    LinkSettings,
    WebhookSettings,
    LobbySettings,
    FloorSettings,
    OperationsSettings,
    PlaySettings,
    ChatSettings,
    StaffSettings,
):
    """Everything that a gateway can be told."""
