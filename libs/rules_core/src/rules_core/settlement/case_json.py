"""A case from its JSON object and back (CONTRACTS.md section 1): shapes and types; `settle` has the rules."""

from __future__ import annotations

import json
import re
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, Final, NoReturn

from rules_core.cards import CARD_OF, CARD_TEXTS, Card
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.parse import RulesetError, parse_ruleset, ruleset_object
from rules_core.rulesets.reader import shown
from rules_core.rulesets.shipped import UnknownRuleset, shipped, shipped_ids
from rules_core.settlement.box_rules import AMOUNT_MAX
from rules_core.settlement.model import BoxCase, Case, CaseError, Option, Wagers

_CARD_OF: Final = CARD_OF.__getitem__
_CASE_KEYS: Final = frozenset({"ruleset", "max_payout", "dealer", "boxes"})
_DEALER_KEYS: Final = frozenset({"cards", "draws"})
_BOX_KEYS: Final = frozenset(
    {"box", "player", "blind", "cards", "option", "final", "insurance", "purchase", "wagers"}
)
_CAPPED_BOX_KEYS: Final = _BOX_KEYS | {"max_payout"}
_OPTION_KEYS: Final[dict[str, frozenset[str]]] = {
    "bet": frozenset({"kind"}),
    "sixth": frozenset({"kind", "cards"}),
    "exchange": frozenset({"kind", "positions", "cards"}),
    "fold": frozenset({"kind"}),
    "none": frozenset({"kind"}),
}
_WITHOUT_CARDS: Final = {"bet": Option("bet"), "fold": Option("fold"), "none": Option("none")}
_FINALS: Final = (None, "bet", "fold")
_ANTE: Final = frozenset({"ante"})
_WAGERS: Final = frozenset({"ante", "bonus_player", "bonus_dealer"})
_STAKE: Final = frozenset({"stake"})
_FUNDING: Final = frozenset({"funding"})
_KIND: Final = frozenset({"kind"})
_BOUGHT: Final = frozenset({"positions", "cards"})
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_REMEMBERED_RULESET_CHARACTERS: Final = 20_000


class _Wrong(Exception):
    """Unwinds the parser with its `CaseError`."""

    def __init__(self, error: CaseError) -> None:
        super().__init__(error)
        self.error = error


def parse_case(obj: object) -> Case | CaseError:
    """The case that `obj` (parsed JSON) describes, or what is wrong with its shape.

    Every key is stated but a box's own `max_payout` and the two bonuses: their absence means one thing only.
    """
    try:
        return _case(obj)
    except _Wrong as wrong:
        return wrong.error


def _case(obj: object) -> Case:
    fields = _object(obj, _CASE_KEYS, "the case")
    ruleset = _ruleset(fields["ruleset"])
    cap = _cap(fields["max_payout"], "max_payout")
    dealer = _object(fields["dealer"], _DEALER_KEYS, "dealer")
    boxes = _list(fields["boxes"], "boxes")
    return Case(
        ruleset,
        _cards(dealer["cards"], "dealer.cards"),
        _cards(dealer["draws"], "dealer.draws"),
        tuple([_named_box(item, at, cap) for at, item in enumerate(boxes)]),
    )


def _named_box(value: object, at: int, cap: int | None) -> BoxCase:
    """The box; an error names it and its player as far as they can be read."""
    try:
        return _box(value, f"boxes.{at}", cap)
    except _Wrong as wrong:
        fields = value if isinstance(value, dict) else {}
        box, player = fields.get("box"), fields.get("player")
        raise _Wrong(
            CaseError(
                wrong.error.code,
                wrong.error.message,
                box if type(box) is int else None,
                player if isinstance(player, str) and not _SURROGATE.search(player) else None,
            )
        ) from None


def _box(value: object, path: str, cap: int | None) -> BoxCase:
    if type(value) is dict and "max_payout" in value:
        fields = _object(value, _CAPPED_BOX_KEYS, path)
        cap = _cap(fields["max_payout"], path + ".max_payout")
    else:
        fields = _object(value, _BOX_KEYS, path)
    final = fields["final"]
    if final not in _FINALS:
        _wrong("value_wrong_type", f'{path}.final must be "bet", "fold" or null, not {shown(final)}')
    return BoxCase(
        _integer(fields["box"], path, "box"),
        _text(fields["player"], path, "player"),
        _boolean(fields["blind"], path, "blind"),
        _cards(fields["cards"], path + ".cards"),
        _option(fields["option"], path),
        final,
        _integer(fields["insurance"], path, "insurance"),
        _boolean(fields["purchase"], path, "purchase"),
        _wagers(fields["wagers"], path),
        cap,
    )


def _option(value: object, box: str) -> Option:
    path = box + ".option"
    kind = value.get("kind") if type(value) is dict else None
    keys = _OPTION_KEYS.get(kind) if type(kind) is str else None
    if keys is None:
        _object(value, _KIND, path, optional=None)
        _wrong("value_wrong_type", f"{path}.kind must be one of {', '.join(_OPTION_KEYS)}, not {shown(kind)}")
    fields = _object(value, keys, path, optional=_BOUGHT)
    if len(fields) == 1:
        return _WITHOUT_CARDS[fields["kind"]]
    # Where none are bought, null and an empty list say as much as no key at all.
    positions, cards = fields.get("positions"), fields.get("cards")
    if positions is None and "positions" not in keys:
        positions = []
    if cards is None and "cards" not in keys:
        cards = []
    places = [_integer(place, box, "option.positions") for place in _list(positions, path + ".positions")]
    return Option(fields["kind"], tuple(places), _cards(cards, path + ".cards"))


def _wagers(value: object, box: str) -> Wagers:
    if type(value) is dict and value.keys() == _WAGERS:
        fields: dict[str, Any] = value
    else:
        fields = _object(value, _ANTE, box + ".wagers", optional=_WAGERS)
    ante, player, dealer = fields["ante"], fields.get("bonus_player", 0), fields.get("bonus_dealer", 0)
    if type(ante) is int and type(player) is int and type(dealer) is int:  # all in cash
        return Wagers(ante, player, dealer)
    ante, ante_funding = _stake(ante, box, "wagers.ante")
    player, player_funding = _stake(player, box, "wagers.bonus_player")
    dealer, dealer_funding = _stake(dealer, box, "wagers.bonus_dealer")
    return Wagers(ante, player, dealer, ante_funding, player_funding, dealer_funding)


def _stake(value: object, box: str, key: str) -> tuple[int, str | None]:
    """A wager: an integer in cash, or an object with the free bet's id as its `funding` (null: cash)."""
    if type(value) is not dict:
        return _integer(value, box, key), None
    fields = _object(value, _STAKE, f"{box}.{key}", optional=_FUNDING)
    funding = fields.get("funding")
    stake = _integer(fields["stake"], box, key + ".stake")
    return stake, None if funding is None else _text(funding, box, key + ".funding")


def _ruleset(value: object) -> Ruleset:
    if type(value) is str:
        try:
            return shipped(value)
        except UnknownRuleset:
            known = ", ".join(shipped_ids())
            _wrong("ruleset_unknown", f"no ruleset {shown(value)} is known; use {known}, or a whole one")
    if type(value) is not dict:
        _wrong("value_wrong_type", f"ruleset must be an id or a ruleset's object, not {shown(value)}")
    ruleset = _own_ruleset(value)
    if isinstance(ruleset, CaseError):
        raise _Wrong(ruleset)
    return ruleset


def _own_ruleset(value: dict[str, object]) -> Ruleset | CaseError:
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):  # nothing that JSON can hold: the parser will say where
        return _whole_ruleset(value)
    return _remembered(text) if len(text) <= _REMEMBERED_RULESET_CHARACTERS else _whole_ruleset(value)


@lru_cache(maxsize=32)
def _remembered(text: str) -> Ruleset | CaseError:
    """A house settles many cases under one ruleset: its object is read once."""
    return _whole_ruleset(json.loads(text))


def _whole_ruleset(value: object) -> Ruleset | CaseError:
    """The ruleset of an object. Under a published id only the published one: that never changes."""
    ruleset = parse_ruleset(value)
    if isinstance(ruleset, RulesetError):
        where = f"ruleset.{ruleset.key}" if ruleset.key else "ruleset"
        return CaseError("ruleset_invalid", f"{where} {ruleset.message}")
    if ruleset.id in shipped_ids() and ruleset.sha256 != shipped(ruleset.id).sha256:
        return CaseError(
            "ruleset_changed",
            f"ruleset is not {ruleset.id} as published; give it another id, or the id alone in its place",
        )
    return ruleset


def _object(
    value: object, required: AbstractSet[str], path: str, *, optional: AbstractSet[str] | None = frozenset()
) -> dict[str, Any]:
    """`value` as an object with the `required` keys and perhaps `optional` ones (None: any others)."""
    if type(value) is not dict:
        _wrong("object_expected", f"{path} must be an object, not {shown(value)}")
    if value.keys() == required:
        return value
    for key in sorted(required - value.keys()):
        _wrong("key_missing", f"{path} lacks the key {key}; state it")
    if optional is not None and not value.keys() <= required | optional:
        key = next(key for key in value if key not in required and key not in optional)
        _wrong("key_unknown", f"{path} has the key {shown(key)}, which means nothing there; leave it out")
    return value


def _list(value: object, path: str) -> list[object]:
    if type(value) is not list:
        _wrong("value_wrong_type", f"{path} must be a list, not {shown(value)}")
    return value


def _cards(value: object, path: str) -> tuple[Card, ...]:
    cards: list[Any] = _list(value, path)
    try:
        return tuple(map(_CARD_OF, cards))
    except (KeyError, TypeError):
        wrong = next(card for card in cards if not isinstance(card, str) or card not in CARD_OF)
        _wrong("card_unreadable", f"{path}: {shown(wrong)} is no card; rank 23456789TJQKA, then suit cdhs")


def _integer(value: object, box: str, key: str) -> int:
    if type(value) is not int:
        _wrong("amount_not_integer", f"{box}.{key} must be an integer, not {shown(value)}")
    return value


def _boolean(value: object, box: str, key: str) -> bool:
    if type(value) is not bool:
        _wrong("value_wrong_type", f"{box}.{key} must be true or false, not {shown(value)}")
    return value


def _text(value: object, box: str, key: str) -> str:
    if type(value) is not str or not value:
        _wrong("value_wrong_type", f"{box}.{key} must be a text that is not empty, not {shown(value)}")
    if not value.isascii() and _SURROGATE.search(value):
        _wrong("value_wrong_type", f"{box}.{key} must be whole characters, not half a surrogate pair")
    return value


def _cap(value: object, path: str) -> int | None:
    if value is None:
        return None
    if type(value) is not int:
        _wrong("amount_not_integer", f"{path} must be an integer, or null for no cap, not {shown(value)}")
    if value < 0:
        _wrong("amount_negative", f"{path} must be 0 or more, or null for no cap")
    if value > AMOUNT_MAX:
        _wrong("amount_too_large", f"{path} must be at most {AMOUNT_MAX}, or null for no cap")
    return value


def _wrong(code: str, message: str) -> NoReturn:
    raise _Wrong(CaseError(code, message))


def case_object(case: Case) -> dict[str, object]:
    """The case as JSON; `parse_case` gives it back.

    The cap of the first box stands at the case, others where they differ. A shipped ruleset is named by id.
    """
    ruleset = case.ruleset
    known = ruleset.id in shipped_ids() and shipped(ruleset.id) == ruleset
    cap = case.boxes[0].max_payout if case.boxes else None
    return {
        "ruleset": ruleset.id if known else ruleset_object(ruleset),
        "max_payout": cap,
        "dealer": {"cards": _texts(case.dealer), "draws": _texts(case.draws)},
        "boxes": [_box_object(box, cap) for box in case.boxes],
    }


def _box_object(box: BoxCase, cap: int | None) -> dict[str, object]:
    option: dict[str, object] = {"kind": box.option.kind}
    if box.option.kind == "exchange":
        option["positions"] = list(box.option.positions)
    if box.option.kind in ("exchange", "sixth"):
        option["cards"] = _texts(box.option.cards)
    wagers = box.wagers
    found: dict[str, object] = {
        "box": box.box,
        "player": box.player,
        "blind": box.blind,
        "cards": _texts(box.cards),
        "option": option,
        "final": box.final,
        "insurance": box.insurance,
        "purchase": box.purchase,
        "wagers": {
            "ante": _stake_object(wagers.ante, wagers.ante_funding),
            "bonus_player": _stake_object(wagers.bonus_player, wagers.bonus_player_funding),
            "bonus_dealer": _stake_object(wagers.bonus_dealer, wagers.bonus_dealer_funding),
        },
    }
    if box.max_payout != cap:
        found["max_payout"] = box.max_payout
    return found


def _stake_object(stake: int, funding: str | None) -> object:
    return stake if funding is None else {"stake": stake, "funding": funding}


def _texts(cards: tuple[Card, ...]) -> list[str]:
    return [CARD_TEXTS[card] for card in cards]
