"""A round as one of its players may see it: what the history shows of it, in the shapes that are answered."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

RoundState = Literal["open", "settled", "cancelled"]

is_round: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\.[1-9][0-9]{0,15}").fullmatch
"""Whether a text can name a round: `<table>.<number>`."""

_is_box_card: Final = re.compile(r"box\.([0-9]+)\.([0-9]+)").fullmatch
_DEALT: Final = 5


@dataclass(frozen=True, slots=True)
class Dealer:
    """The dealer's hand of a settled round."""

    first: str
    final: str
    cards: tuple[str, ...]
    qualified: bool
    purchased: bool


@dataclass(frozen=True, slots=True)
class Played:
    """A round with a bet of a player's, in few words. Amounts are minor units."""

    round: str
    table: str
    number: int
    ruleset: str
    player: str
    """Our id."""
    currency: str
    state: RoundState
    reason: str | None
    opened_at: dt.datetime
    ended_at: dt.datetime | None
    staked: int
    returned: int | None
    net: int | None
    revision: int
    by_platform: int
    dealer: Dealer | None


@dataclass(frozen=True, slots=True)
class Hand:
    """A hand as it is told."""

    name: str
    combinations: tuple[str, ...]
    odds: int


@dataclass(frozen=True, slots=True)
class Wager:
    """One wager or fee; what went back of it, and why, when it is settled."""

    wager: str
    stake: int
    returned: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Box:
    """A box of the player's: its cards, what was chosen, what became of it."""

    box: int
    blind: bool
    cards: tuple[str, ...]
    option: str | None
    positions: tuple[int, ...]
    bought: int
    final: str | None
    final_by: str | None
    purchase: bool | None
    folded: bool
    hand: Hand | None
    wagers: tuple[Wager, ...]
    outcome: str | None
    staked: int
    returned: int | None
    net: int | None
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Words:
    """A round in sentences: about the table, and about the player's boxes by their numbers."""

    table: tuple[str, ...] = ()
    boxes: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Detail:
    """A round with its cards and choices."""

    played: Played
    step: str
    corrections: int
    cards: Mapping[str, str]
    """Place to card, or `hidden`."""
    boxes: tuple[Box, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Happened:
    """One thing that happened, as the player may see it."""

    position: int
    at: dt.datetime
    type: str
    data: Mapping[str, Any]


def detail_of(played: Played, view: Mapping[str, Any], corrections: int, words: Words) -> Detail:
    """A round's detail, of its `table_view` (docs/views.md). The public's has no boxes of the player's."""
    cards: Mapping[str, str] = view["cards"]
    own: Mapping[str, Any] = view.get("own") or {}
    boxes = tuple(_box(box, cards, words) for box in own.get("boxes", ()))
    return Detail(played, view["step"], corrections, dict(cards), boxes, words.table)


def _box(box: Mapping[str, Any], cards: Mapping[str, str], words: Words) -> Box:
    result: Mapping[str, Any] = box["result"] or {}
    hand = box["hand"]
    return Box(
        box=box["box"],
        blind=box["blind"],
        cards=_dealt(box["box"], cards),
        option=box["option"],
        positions=tuple(box["positions"]),
        bought=box["bought"],
        final=box["final"],
        final_by=box["final_by"],
        purchase=box["purchase"],
        folded=box["folded"],
        hand=None if hand is None else Hand(hand["name"], tuple(hand["combinations"]), hand["odds"]),
        wagers=_wagers(box["wagers"], result.get("lines")),
        outcome=result.get("outcome"),
        staked=result.get("staked", box["staked"]),
        returned=result.get("returned"),
        net=result.get("net"),
        words=words.boxes.get(box["box"], ()),
    )


def _wagers(staked: Mapping[str, int], lines: Sequence[Mapping[str, Any]] | None) -> tuple[Wager, ...]:
    if lines is None:
        return tuple(Wager(wager, stake, None, None) for wager, stake in staked.items())
    return tuple(Wager(one["wager"], one["stake"], one["returned"], one["reason"]) for one in lines)


def _dealt(box: int, cards: Mapping[str, str]) -> tuple[str, ...]:
    """The box's cards in the order dealt."""
    found: list[tuple[int, str]] = []
    for place, card in cards.items():
        named = _is_box_card(place)
        if named is not None and int(named[1]) == box:
            found.append((int(named[2]), card))
    return tuple(card for number, card in sorted(found) if number < _DEALT)


_OF_STAFF: Final = frozenset({"confirmed_by", "proposer", "approver"})
"""Members that name members of the staff: no platform needs them."""


def without_others(data: Mapping[str, Any], player: str, shown_as: str) -> Mapping[str, Any] | None:
    """What an event says, with the player's own id instead of ours; None: it is about somebody else.

    Other players are left out wherever they are named, and so is the staff.
    """
    if data.get("player") not in {None, player}:
        return None
    found = _without(data, player, shown_as)
    return found if isinstance(found, Mapping) else None


def _without(value: Any, player: str, shown_as: str) -> Any:  # noqa: ANN401 - whatever JSON has
    if isinstance(value, Mapping):
        made = {name: _without(one, player, shown_as) for name, one in value.items() if name not in _OF_STAFF}
        if made.get("player") == player:
            made["player"] = shown_as
        if "players" in made:
            made["players"] = [shown_as] if player in value["players"] else []
        return made
    if isinstance(value, list):
        return [_without(one, player, shown_as) for one in value if not _of_somebody_else(one, player)]
    return value


def _of_somebody_else(value: Any, player: str) -> bool:  # noqa: ANN401 - whatever JSON has
    return isinstance(value, Mapping) and value.get("player") not in {None, player}
