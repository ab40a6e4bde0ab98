"""The wallet's settings, read from the environment (`UPCARD_…`) and nowhere else."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from messaging.service import ConnectedSettings
from servicekit.settings import DatabaseSettings, ServiceSettings
from transparency.service import CheckpointSettings
from upcard_seamless.dialects import DialectInvalid, load_dialect
from upcard_seamless.signing import KeyInvalid, signer_of
from upcard_wallet.domain.ids import is_opaque_id

_ADDRESS: Final = re.compile(r"https?://[^\s/?#@]+(/[^\s?#]*)?")
_SHORTEST_SECRET: Final = 16
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class WalletSettings(ServiceSettings, DatabaseSettings, ConnectedSettings, CheckpointSettings):
    """Everything that a wallet can be told."""

    table_address: str = Field(
        description="host:port of the table service: its events are followed, it is asked about old holds"
    )
    bonus_address: str | None = Field(
        default=None, description="host:port of the bonus service; without it no jackpots and free bets"
    )

    partners: dict[str, str] = Field(
        default_factory=dict,
        description='addresses of seamless operators\' wallets as JSON, such as {"op1": "https://wallet.example/v1"}',
    )
    partner_secrets: dict[str, SecretStr] = Field(
        default_factory=dict,
        description='what calls to them are signed with, as JSON, such as {"op1": "16 characters or more"};'
        " with dialects that sign by RSA our private key as PEM",
    )
    partner_dialects: dict[str, str] = Field(
        default_factory=dict,
        description='how their wallets are spoken to where not "plain", as JSON, such as {"op1": "single"}:'
        " a dialect of ours, or the path of a .json file with one",
    )
    partner_bets_at_once: int = Field(
        default=64, ge=1, le=10_000, description="bets that one partner is asked for at the same time"
    )
    partner_timeout_s: Seconds = Field(
        default=5.0, description="the longest that a win or a rollback may take, in seconds"
    )
    partner_park_after_s: Annotated[float, Field(ge=43_200, le=2_592_000)] = Field(
        default=43_200.0,
        description="for how long a partner that fails is tried, in seconds, 12 hours or more",
    )

    partner_circuit_failures: int = Field(
        default=8,
        ge=1,
        le=1_000,
        description="after so many failures of a partner in a row antes of its players are refused unasked",
    )
    partner_circuit_pause_s: Seconds = Field(
        default=5.0, description="how often such a partner is tried with one call, in seconds"
    )
    partner_balance_timeout_s: Annotated[float, Field(gt=0, le=10)] = Field(
        default=2.0, description="the longest that a question for a balance may take, in seconds"
    )

    partners_distrusted: frozenset[str] = Field(
        default=frozenset(),
        description='operators whose wallets have refused a bet and taken its money, such as ["op1"]:'
        " what they refuse is rolled back too",
    )

    partner_calls_kept_days: int = Field(
        default=400,
        ge=90,
        le=36_500,
        description="for how long finished calls to partners are kept for disputes, in days",
    )

    holds_age_ask_s: Seconds = Field(
        default=300.0,
        description="from which age on the table is asked what became of an open hold, in seconds: longer"
        " than a round lasts, shorter than UPCARD_HOLDS_AGE_ALARM_S",
    )
    holds_age_alarm_s: Seconds = Field(
        default=600.0, description="for how long a hold may be open before it is worth an alarm, in seconds"
    )
    upkeep_interval_s: Seconds = Field(
        default=1.0, description="how often totals are moved on and figures are looked up, in seconds"
    )

    @field_validator("partners")
    @classmethod
    def _partners(cls, value: dict[str, str]) -> dict[str, str]:
        for operator, address in value.items():
            if not is_opaque_id(operator):
                raise ValueError("each operator has to be an opaque id")
            if not _ADDRESS.fullmatch(address):
                raise ValueError(
                    "each address has to begin with https:// or http://, without name and password"
                )
        return value

    @field_validator("partner_secrets")
    @classmethod
    def _secrets(cls, value: dict[str, SecretStr], others: ValidationInfo) -> dict[str, SecretStr]:
        partners = others.data.get("partners")
        if partners is not None and set(partners) != set(value):
            raise ValueError("it has to have a secret for each operator of UPCARD_PARTNERS, and no others")
        if any(len(secret.get_secret_value()) < _SHORTEST_SECRET for secret in value.values()):
            raise ValueError(f"each secret has to have {_SHORTEST_SECRET} characters or more")
        return value

    @field_validator("partner_dialects")
    @classmethod
    def _dialects(cls, value: dict[str, str], others: ValidationInfo) -> dict[str, str]:
        secrets: dict[str, SecretStr] | None = others.data.get("partner_secrets")
        if secrets is None:
            return value  # that is said already
        if not set(value) <= set(secrets):
            raise ValueError("it has to name operators of UPCARD_PARTNERS only")
        for operator, name in value.items():
            try:
                signer_of(load_dialect(name).signature, secrets[operator].get_secret_value().encode())
            except DialectInvalid as error:
                raise ValueError(f"of {operator}: {error}") from None
            except KeyInvalid as error:
                raise ValueError(f"the secret of {operator} does not fit its dialect: {error}") from None
        return value

    @field_validator("partners_distrusted")
    @classmethod
    def _distrusted(cls, value: frozenset[str], others: ValidationInfo) -> frozenset[str]:
        partners = others.data.get("partners")
        if partners is not None and not value <= set(partners):
            raise ValueError("it has to name operators of UPCARD_PARTNERS only")
        return value
