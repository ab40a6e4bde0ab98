"""Settings of the lobby."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import Field, field_validator

from servicekit.settings import Settings

_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")
_LONGEST_NAME: Final = 64


class LobbySettings(Settings):
    """How fresh the lobby is, and what it says of tables that no service knows."""

    lobby_fresh_s: Annotated[float, Field(ge=0.1, le=60, allow_inf_nan=False)] = Field(
        default=1.0, description="for so long nobody reads tables, seats and jackpots again, in seconds"
    )
    lobby_stale_max_s: Annotated[float, Field(ge=1, le=3_600, allow_inf_nan=False)] = Field(
        default=60.0,
        description="what could not be read again for longer is not shown any more, in seconds",
    )
    lobby_results: int = Field(
        default=10, ge=1, le=50, description="how many last results of a table are shown"
    )
    table_languages: dict[str, tuple[str, ...]] = Field(
        default={}, description='languages spoken at tables, as JSON, such as {"t1": ["en", "pt-BR"]}'
    )
    languages: tuple[str, ...] = Field(
        default=("en",), description="languages spoken at all other tables, with commas between"
    )
    dealer_names: dict[str, str] = Field(
        default={},
        description='names that players see, by a dealer\'s id, as JSON, such as {"d1": "Ana"}; '
        "for others it is the first word of the member's name",
    )

    @field_validator("table_languages")
    @classmethod
    def _table_languages(cls, value: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for languages in value.values():
            _check_languages(languages)
        return value

    @field_validator("languages")
    @classmethod
    def _languages(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        _check_languages(value)
        return value

    @field_validator("dealer_names")
    @classmethod
    def _dealer_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value.values():
            if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
                raise ValueError(f"each name has 1 to {_LONGEST_NAME} printable characters")
        return value


def _check_languages(value: tuple[str, ...]) -> None:
    if not value or len(set(value)) != len(value):
        raise ValueError("give one language or more, each once")
    for language in value:
        if not _LANGUAGE.fullmatch(language):
            raise ValueError("each has to be a BCP 47 tag, such as en or pt-BR")
