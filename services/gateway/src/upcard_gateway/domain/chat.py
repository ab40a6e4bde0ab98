"""What may be said at a table: the form of a line, how often, words that nobody may say.

Lines are no events. They are kept for a while, and go with the person whose they are.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

__all__ = [
    "LINE_MAX",
    "MUTE_MAX",
    "WORD_MAX",
    "WORD_MIN",
    "NotSaid",
    "Standing",
    "cleaned",
    "folded",
    "has_blocked",
    "may_say",
]

LINE_MAX: Final = 200
"""Most characters of a line."""
RATE_LINES: Final = 5
"""So many lines of a player in `RATE_WINDOW`, at whatever tables."""
RATE_WINDOW: Final = dt.timedelta(seconds=15)
MUTE_MAX: Final = dt.timedelta(days=30)
WORD_MIN: Final = 2
WORD_MAX: Final = 40

NotSaid = Literal[
    "chat_empty", "chat_too_long", "chat_muted", "chat_revoked", "chat_too_fast", "chat_blocked_word"
]
"""Why a line is not said."""

_LOOKALIKES: Final = str.maketrans(
    {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s"}
)
_WORDS: Final = re.compile(r"\w+")
_BETWEEN_LETTERS: Final = re.compile(r"(?<=\b\w)[\W_]+(?=\w\b)")


@dataclass(frozen=True, slots=True)
class Standing:
    """What a player may do in chats."""

    muted_until: dt.datetime | None = None
    is_revoked: bool = False


def cleaned(text: str) -> str:
    """A line as it is shown: one line, no invisible or control characters, single spaces."""
    plain = unicodedata.normalize("NFC", text)
    kept = "".join(one if _is_visible(one) else " " for one in plain)
    return " ".join(kept.split())


def folded(text: str) -> str:
    """A text as words are compared: small letters without accents, look-alikes as what they look like."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(one for one in apart if not unicodedata.combining(one)).translate(_LOOKALIKES)


def has_blocked(line: str, words: Iterable[str]) -> bool:
    """Whether one of these (folded) words is in a line: whole, or spelt letter by letter."""
    plain = folded(line)
    found = set(_WORDS.findall(plain)) | set(_WORDS.findall(_BETWEEN_LETTERS.sub("", plain)))
    return any(word in found or (" " in word and word in plain) for word in words)


def may_say(
    line: str, standing: Standing, recent: int, words: Iterable[str], now: dt.datetime
) -> NotSaid | None:
    """Why this (cleaned) line is not said; None: it may be. `recent`: the player's lines in `RATE_WINDOW`."""
    if standing.is_revoked:
        return "chat_revoked"
    if standing.muted_until is not None and now < standing.muted_until:
        return "chat_muted"
    if not line:
        return "chat_empty"
    if len(line) > LINE_MAX:
        return "chat_too_long"
    if recent >= RATE_LINES:
        return "chat_too_fast"
    return "chat_blocked_word" if has_blocked(line, words) else None


def _is_visible(character: str) -> bool:
    """Whether a character belongs in a line: no controls, no marks that turn its direction."""
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
