"""Settings of rounds' links and of reports."""

from __future__ import annotations

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from servicekit.settings import Settings
from upcard_gateway.settings.keys import checked_keys, raw_key


class LinkSettings(Settings):
    """What signs links to rounds, and how far a report goes."""

    link_keys: dict[str, SecretStr] = Field(
        default={},
        description="what links to rounds are signed with, by id, as JSON, such as"
        ' {"k1": "32 bytes in base64"}; keep old ones for as long as their links are to work; none: no links',
    )
    link_key: str = Field(
        default="", validate_default=True, description="the id of the key of UPCARD_LINK_KEYS for new links"
    )
    report_lines_checked_max: int = Field(
        default=100_000,
        ge=0,
        le=10_000_000,
        description="a day's reconciliation is checked line by line up to so many lines",
    )

    @field_validator("link_keys")
    @classmethod
    def _link_keys(cls, value: dict[str, SecretStr]) -> dict[str, SecretStr]:
        if value:
            checked_keys(value)
        return value

    @field_validator("link_key")
    @classmethod
    def _link_key(cls, value: str, others: ValidationInfo) -> str:
        keys = others.data.get("link_keys")
        if keys is not None and value not in (keys or {""}):
            raise ValueError("it has to be one of the ids of UPCARD_LINK_KEYS")
        return value

    def link_signing_keys(self) -> dict[str, bytes]:
        """The keys' bytes by their ids."""
        return {key_id: raw_key(secret) for key_id, secret in self.link_keys.items()}
