"""Where a page begins, as a text: what a request says as `after`."""

from __future__ import annotations

import datetime as dt
import re
from typing import Final

from upcard_history.app.reading import RoundKey
from upcard_history.entrypoints.grpc.asking import invalid

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_ROUND: Final = r"[A-Za-z0-9_-]{1,64}\.[1-9][0-9]{0,15}"
_KEY: Final = re.compile(rf"([0-9]{{1,17}})/({_ROUND})")
_POSITION: Final = re.compile("[1-9][0-9]{0,17}")
_is_round = re.compile(_ROUND).fullmatch


def round_token(key: RoundKey | None) -> str:
    """A place in a list of rounds; empty for none."""
    if key is None:
        return ""
    return f"{(key.opened_at - _EPOCH) // _MICROSECOND}/{key.round}"


def round_key(token: str) -> RoundKey | None:
    """The place that a token of a request says; None for the beginning. Raises CallError."""
    if not token:
        return None
    found = _KEY.fullmatch(token)
    if found is None:
        raise _no_token()
    try:
        return RoundKey(_EPOCH + int(found[1]) * _MICROSECOND, found[2])
    except OverflowError:
        raise _no_token() from None


def position_token(position: int | None) -> str:
    """A place in a statement; empty for none."""
    return "" if position is None else str(position)


def position_of(token: str) -> int:
    """The place that a token of a request says; 0 for the beginning. Raises CallError."""
    if not token:
        return 0
    if not _POSITION.fullmatch(token):
        raise _no_token()
    return int(token)


def round_name(name: str) -> str | None:
    """The name of a round as a request says it; None for what can be no round's."""
    return name if _is_round(name) else None


def name_after(token: str) -> str:
    """The round after which a page begins that goes by name; empty for the beginning. Raises CallError."""
    if token and not _is_round(token):
        raise _no_token()
    return token


def _no_token() -> Exception:
    return invalid("after is no `next` of a page before")
