"""The bonus service's settings, read from the environment (`UPCARD_…`) and nowhere else."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from eventstore.private import KEY_BYTES, Keyring
from messaging.service import ConnectedSettings
from servicekit.settings import DatabaseSettings, ServiceSettings
from transparency.service import CheckpointSettings
from upcard_bonus.domain.ids import is_opaque_id

Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class BonusSettings(ServiceSettings, DatabaseSettings, ConnectedSettings, CheckpointSettings):
    """Everything that a bonus service can be told."""

    table_address: str = Field(description="host:port of the table service, whose events are followed")

    jackpot_keys: dict[str, SecretStr] = Field(
        description="what encrypts the secret sizes of jackpots, by id, as JSON,"
        ' such as {"k1": "32 bytes in base64"}',
    )
    jackpot_key: str = Field(description="the id of the key of UPCARD_JACKPOT_KEYS that encrypts new secrets")
    fence_max_s: Annotated[float, Field(ge=1, le=86_400)] = Field(
        default=300.0,
        description="after how long a fence of a pool ends by itself, in seconds",
    )
    upkeep_interval_s: Seconds = Field(
        default=1.0, description="how often it is looked for what is over, in seconds"
    )

    @field_validator("jackpot_keys")
    @classmethod
    def _jackpot_keys(cls, value: dict[str, SecretStr]) -> dict[str, SecretStr]:
        if not value:
            raise ValueError("it has to have a key")
        for key_id, secret in value.items():
            if not is_opaque_id(key_id):
                raise ValueError("each id has to have letters, digits, - and _ only")
            _raw_key(secret)
        return value

    @field_validator("jackpot_key")
    @classmethod
    def _jackpot_key(cls, value: str, others: ValidationInfo) -> str:
        keys = others.data.get("jackpot_keys")
        if keys is not None and value not in keys:
            raise ValueError("it has to be one of the ids of UPCARD_JACKPOT_KEYS")
        return value

    def keyring(self) -> Keyring:
        """What the secrets of jackpots are encrypted and read with."""
        keys = {key_id: _raw_key(secret) for key_id, secret in self.jackpot_keys.items()}
        return Keyring(keys, writes_with=self.jackpot_key)


def _raw_key(secret: SecretStr) -> bytes:
    try:
        raw = base64.b64decode(secret.get_secret_value(), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("each key has to be base64") from None
    if len(raw) != KEY_BYTES:
        raise ValueError(f"each key has to have {KEY_BYTES} bytes")
    return raw
