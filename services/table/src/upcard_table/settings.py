"""The table service's settings, read from the environment (`UPCARD_…`) and nowhere else."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Annotated, Final

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from eventstore.private import KEY_BYTES, Keyring
from messaging.service import ConnectedSettings
from servicekit.settings import DatabaseSettings, ServiceSettings
from transparency.service import CheckpointSettings
from upcard_table.domain.words import is_opaque_id

_ADDRESS: Final = re.compile(r"[^\s:/]+:[0-9]{1,5}|\[[0-9a-fA-F:]+\]:[0-9]{1,5}")
_SHORTEST_KEY: Final = 32
Seconds = Annotated[float, Field(gt=0, le=3_600, allow_inf_nan=False)]


class TableSettings(ServiceSettings, DatabaseSettings, ConnectedSettings, CheckpointSettings):
    """Everything that a table service can be told."""

    wallet_address: str = Field(description="host:port of the wallet, which holds the players' money")
    bonus_address: str | None = Field(
        default=None,
        description="host:port of the bonus service; without it no round with a jackpot can be corrected",
    )
    advertised_address: str | None = Field(
        default=None,
        description="host:port at which other instances reach this one; without it, where it listens",
    )

    card_keys: dict[str, SecretStr] = Field(
        description='what encrypts face-down cards, by id, as JSON, such as {"k1": "32 bytes in base64"}',
    )
    card_key: str = Field(description="the id of the key of UPCARD_CARD_KEYS that encrypts new cards")
    scan_key: SecretStr = Field(
        description="what repeated scans are compared with: 32 characters or more, at random, never changed",
    )
    resume_key: SecretStr = Field(
        description="what signs the resume tokens of watchers: 32 characters or more, at random",
    )

    tables_max: int = Field(default=500, ge=1, le=10_000, description="most tables that this instance owns")
    lease_s: Annotated[float, Field(ge=1, le=60)] = Field(
        default=5.0,
        description="after how long without a sign of life an owner is replaced, in seconds",
    )
    updates_per_s: Annotated[float, Field(gt=0, le=50)] = Field(
        default=4.0, description="how often the public of a table is told, at the most, a second"
    )
    upkeep_interval_s: Seconds = Field(default=5.0, description="how often figures are looked up, in seconds")

    @field_validator("wallet_address", "bonus_address", "advertised_address")
    @classmethod
    def _host_and_port(cls, value: str | None) -> str | None:
        if value is not None and not _ADDRESS.fullmatch(value):
            raise ValueError("it has to be host:port")
        return value

    @field_validator("card_keys")
    @classmethod
    def _card_keys(cls, value: dict[str, SecretStr]) -> dict[str, SecretStr]:
        if not value:
            raise ValueError("it has to have a key")
        for key_id, secret in value.items():
            if not is_opaque_id(key_id):
                raise ValueError("each id has to have letters, digits, - and _ only")
            _raw_key(secret)
        return value

    @field_validator("card_key")
    @classmethod
    def _card_key(cls, value: str, others: ValidationInfo) -> str:
        keys = others.data.get("card_keys")
        if keys is not None and value not in keys:
            raise ValueError("it has to be one of the ids of UPCARD_CARD_KEYS")
        return value

    @field_validator("scan_key", "resume_key")
    @classmethod
    def _long_enough(cls, value: SecretStr) -> SecretStr:
        if len(value.get_secret_value()) < _SHORTEST_KEY:
            raise ValueError(f"it has to have {_SHORTEST_KEY} characters or more")
        return value

    def keyring(self) -> Keyring:
        """What face-down cards are encrypted and read with."""
        keys = {key_id: _raw_key(secret) for key_id, secret in self.card_keys.items()}
        return Keyring(keys, writes_with=self.card_key)


def _raw_key(secret: SecretStr) -> bytes:
    try:
        raw = base64.b64decode(secret.get_secret_value(), validate=True)
    except binascii.Error:
        raise ValueError("each key has to be base64") from None
    if len(raw) != KEY_BYTES:
        raise ValueError(f"each key has to have {KEY_BYTES} bytes")
    return raw
