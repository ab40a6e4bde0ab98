"""Kinds of values that requests and answers have in common."""

from __future__ import annotations

import datetime as dt
import unicodedata
from typing import Annotated, Final

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer

__all__ = [
    "LARGEST_AMOUNT",
    "Amount",
    "AnswerModel",
    "AskedMoment",
    "Country",
    "Currency",
    "Language",
    "MinorUnits",
    "Moment",
    "OpaqueId",
    "PlayerId",
    "RequestId",
    "RequestModel",
    "ShownName",
    "moment_text",
]

_FIRST_YEAR, _LAST_YEAR = 2000, 2199
_YEARS: Final = f"a moment is in the years {_FIRST_YEAR} to {_LAST_YEAR}"
LARGEST_AMOUNT: Final = 2**53 - 1
"""Most minor units of one amount: what every JSON reader still reads exactly."""


def moment_text(moment: dt.datetime) -> str:
    """A moment as the API writes it, `YYYY-MM-DDThh:mm:ss.ffffffZ`."""
    return f"{moment.astimezone(dt.UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def _in_our_calendar(moment: dt.datetime) -> dt.datetime:
    """A moment that has a place in UTC's calendar, too: the first and last hours of all have none."""
    try:
        found = moment.astimezone(dt.UTC)
    except OverflowError:
        raise ValueError(_YEARS) from None
    if not _FIRST_YEAR <= found.year <= _LAST_YEAR:
        raise ValueError(_YEARS)
    return moment


def _showable(text: str) -> str:
    """Names that everybody at a table sees: no control characters, nothing that turns or hides other text."""
    if any(unicodedata.category(character)[0] == "C" for character in text):
        raise ValueError("it has characters that cannot be shown")
    if text != text.strip() or not text:
        raise ValueError("it begins or ends with a space, or is empty")
    return text


RequestId = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9_-]{1,64}$",
        description="new for each wish, the same in each try: what came before with the same body gets the"
        " original answer, with another body it is refused",
    ),
]
PlayerId = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.:@=+-]{0,127}$",
        description="the platform's own id of the player",
    ),
]
OpaqueId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$", description="ISO 4217")]
Country = Annotated[str, Field(pattern=r"^[A-Z]{2}$", description="ISO 3166-1, two capital letters")]
Language = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$",
        description="BCP 47, such as en or pt-BR; English is shown where a text is missing in it",
    ),
]
ShownName = Annotated[
    str,
    AfterValidator(_showable),
    Field(min_length=1, max_length=32, description="shown at the table"),
]
Amount = Annotated[
    int, Field(strict=True, gt=0, le=LARGEST_AMOUNT, description="minor units of the currency, above zero")
]
MinorUnits = Annotated[int, Field(strict=True, description="minor units of the currency")]
Moment = Annotated[
    AwareDatetime,
    PlainSerializer(moment_text, return_type=str, when_used="json"),
    Field(description="RFC 3339 in UTC, with microseconds"),
]

AskedMoment = Annotated[Moment, AfterValidator(_in_our_calendar)]
"""A moment in a request: one that can be worked with."""


class RequestModel(BaseModel):
    """A request's body: what is not known in it is refused, so that no misspelt field passes unseen."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class AnswerModel(BaseModel):
    """An answer: fields may be added to it later, and are passed over by readers who do not know them."""

    model_config = ConfigDict(frozen=True)
