"""The JSON of one line among many, read and written sooner; what comes of it is never different.

`parse_quickly` gives what `parse_strict` gives, `result_line` what `compact_line(settlement_object(...))`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, NoReturn

from rules_core.canonical import DEPTH_MAX, INTEGER_MAX, parse_strict
from rules_core.cards import CARD_TEXTS
from rules_core.settlement.model import BoxResult, Line, Settlement

_DIGITS: Final = b"0123456789"
_DIGITS_AS_ONE: Final = bytes(ord("0") if byte in _DIGITS else ord(" ") for byte in range(256))
_LONG_INTEGER: Final = b"0" * len(str(INTEGER_MAX))


class _Unusual(Exception):
    """Text that `parse_strict` refuses, or is to look at more closely."""


def parse_quickly(data: bytes) -> object:
    """What `parse_strict` returns for these bytes, or raises: InvalidJson.

    Most lines show at a glance that nothing in them is too deep, too large or an escaped surrogate; the rest
    is left to `parse_strict`, which also finds the words for what is wrong.
    """
    if (
        b"\\u" not in data
        and data.count(b"[") + data.count(b"{") <= DEPTH_MAX
        and _LONG_INTEGER not in data.translate(_DIGITS_AS_ONE)
    ):
        try:
            value: object = _reader.decode(data.decode())
        except (_Unusual, ValueError):
            pass
        else:
            return value
    return parse_strict(data)


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Unusual
    return members


def _no_integer(_: str) -> NoReturn:
    raise _Unusual


_reader: Final = json.JSONDecoder(
    object_pairs_hook=_once_each, parse_float=_no_integer, parse_constant=_no_integer
)
_quoted: Final = json.JSONEncoder(ensure_ascii=False).encode


def result_line(settlement: Settlement) -> str:
    """The line of a result. Names and slugs need no escapes; a player and a free bet may."""
    dealer = settlement.dealer
    return (
        f'{{"ruleset":"{settlement.ruleset}","ruleset_sha256":"{settlement.ruleset_sha256}"'
        f',"engine":{settlement.engine}'
        f',"dealer":{{"first":"{dealer.first}"'
        f',"final_cards":{_names([CARD_TEXTS[card] for card in dealer.final_cards])}'
        f',"final":"{dealer.final}","qualified":{"true" if dealer.qualified else "false"}'
        f',"purchased":{"true" if dealer.purchased else "false"}}}'
        f',"boxes":[{",".join(map(_box, settlement.boxes))}]}}\n'
    )


def _box(box: BoxResult) -> str:
    return (
        f'{{"box":{box.box},"player":{_quoted(box.player)},"outcome":"{box.outcome}","best":"{box.best}"'
        f',"combinations":{_names(box.combinations)},"odds":{box.odds}'
        f',"lines":[{",".join(map(_line, box.lines))}]'
        f',"staked":{box.staked},"returned":{box.returned},"net":{box.net}}}'
    )


def _line(line: Line) -> str:
    text = (
        f'{{"wager":"{line.wager}","stake":{line.stake},"returned":{line.returned},"reason":"{line.reason}"'
    )
    if line.jackpot_share_percent is not None:
        text += f',"jackpot_share_percent":{line.jackpot_share_percent}'
    if line.funding is not None:
        text += f',"funding":{_quoted(line.funding)}'
    return text + "}"


def _names(names: Sequence[str]) -> str:
    return '["' + '","'.join(names) + '"]' if names else "[]"
