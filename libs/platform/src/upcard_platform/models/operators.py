"""An operator as it sees itself."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field


class Currency(BaseModel):
    """A currency that your players may have, and your limits in it, in minor units."""

    model_config = ConfigDict(frozen=True)

    currency: str = Field(description="ISO 4217")
    min_bet: int | None = Field(default=None, description="least of one wager; null: as the table has it")
    max_bet: int | None = Field(default=None, description="most of one wager; null: as the table has it")


class Key(BaseModel):
    """A key in force."""

    model_config = ConfigDict(frozen=True)

    key: str = Field(description="the id that a call names in Upcard-Key")
    algorithm: Literal["hmac-sha256", "rsa-sha256"]
    fingerprint: str = Field(description="what to compare your key with, in hex")
    added_at: AwareDatetime | None = None


class Operator(BaseModel):
    """Who you are here."""

    model_config = ConfigDict(frozen=True)

    operator: str = Field(description="your id")
    name: str
    environment: Literal["sandbox", "live"]
    wallet: Literal["transfer", "seamless"] = Field(description="where your players' money lies")
    currencies: list[Currency]
    addresses: list[str] = Field(description="networks that your calls may come from; empty: anywhere")
    rate_per_s: int = Field(description="calls that each of your keys may make a second, for long")
    rate_burst: int = Field(description="calls that each of your keys may make at once, after a pause")
    signed_with: str = Field(description="the key that this call was signed with")
    keys: list[Key] = Field(description="your keys in force")
    time: AwareDatetime = Field(description="our clock")
