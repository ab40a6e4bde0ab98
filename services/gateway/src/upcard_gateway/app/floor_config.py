"""A table's whole configuration as a form: read with an error at each field, and compared with what was.

A configuration is the plain JSON of `TableConfig` (docs/table-events.md), amounts in minor units. People
write amounts as they read them, such as 12.50, and times in seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from upcard_seamless.currencies import minor_digits

__all__ = ["Change", "FieldError", "Parsed", "changes", "fields_of", "parsed"]

Config = Mapping[str, Any]

MOST_CURRENCIES: Final = 8
"""So many currencies fit into the form; the table service takes more."""
CHIPS: Final = 10
_MOST_TEXT: Final = 64
_TIMES: Final = (
    "betting_ms",
    "options_ms",
    "final_options_ms",
    "purchase_ms",
    "extension_max_ms",
)
_WAITS: Final = ("confirm_cards_ms", "close_drain_ms", "default_hold_ms")
_RANGES: Final = ("ante", "bonus_player", "bonus_dealer")
_SINGLE: Final = ("insurance_max", "max_payout", "player_total_max")
_is_currency: Final = re.compile(r"[A-Z]{3}").fullmatch
_is_amount: Final = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,8}))?").fullmatch
_is_seconds: Final = re.compile(r"([0-9]{1,6})(?:\.([0-9]{1,3}))?").fullmatch
_is_box: Final = re.compile(
    r"(?P<box>[0-9]{1,2})\s*:\s*(?:(?P<min>[0-9.]+)\s*-\s*(?P<max>[0-9.]+))?\s*(?:/\s*(?P<cap>[0-9.]+))?"
).fullmatch


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with a field. `kind` has its sentence in the English of the floor."""

    field: str
    kind: str


@dataclass(slots=True)
class Parsed:
    """A form as it was read. The configuration is of use only where nothing is wrong."""

    config: dict[str, Any]
    errors: list[FieldError] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two configurations, in the words of the form."""

    field: str
    """Of the form, without a currency's number: such as `ante.min`."""
    currency: str
    before: str
    after: str


class _Wrong(Exception):
    """A text that is not what its field wants."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def parsed(form: Mapping[str, str]) -> Parsed:
    """A posted form as a configuration, with everything that is wrong with it."""
    made = Parsed({})
    config = made.config
    for name in ("name", "ruleset"):
        config[name] = form.get(name, "").strip()
        if not 0 < len(config[name]) <= _MOST_TEXT:
            made.errors.append(FieldError(name, "missing"))
    config["limits"], config["chips"] = [], []
    for number in range(MOST_CURRENCIES):
        if form.get(f"c{number}.currency", "").strip():
            _currency(form, f"c{number}.", made)
    if not config["limits"]:
        made.errors.append(FieldError("c0.currency", "missing"))
    names = [one["currency"] for one in config["limits"]]
    if len(set(names)) < len(names):
        made.errors.append(FieldError("c0.currency", "currency_twice"))
    config["durations"] = {name: _seconds(form, name, made) for name in _TIMES}
    for name in _WAITS:
        config[name] = _seconds(form, name, made)
    config["reserve_bet_with_ante"] = form.get("reserve_bet_with_ante") == "yes"
    config["jackpot"] = form.get("jackpot", "").strip() or None
    config["jackpot_stake_may_vary"] = form.get("jackpot_stake_may_vary") == "yes"
    return made


def _currency(form: Mapping[str, str], prefix: str, made: Parsed) -> None:
    currency = form[f"{prefix}currency"].strip().upper()
    if not _is_currency(currency):
        made.errors.append(FieldError(f"{prefix}currency", "not_a_currency"))
        return

    def amount(name: str, *, wanted: bool) -> int | None:
        text = form.get(f"{prefix}{name}", "").strip()
        if not text and not wanted:
            return None
        try:
            return _amount(text, currency)
        except _Wrong as wrong:
            made.errors.append(FieldError(f"{prefix}{name}", wrong.kind))
            return None

    limits: dict[str, Any] = {"currency": currency, "chip": amount("chip", wanted=True)}
    for name in _RANGES:
        given = [form.get(f"{prefix}{name}.{end}", "").strip() for end in ("min", "max")]
        wanted = name == "ante" or any(given)
        limits[name] = (
            {end: amount(f"{name}.{end}", wanted=True) for end in ("min", "max")} if wanted else None
        )
        low_high = limits[name] or {}
        if None not in low_high.values() and low_high and low_high["min"] > low_high["max"]:
            made.errors.append(FieldError(f"{prefix}{name}.max", "below_least"))
    for name in _SINGLE:
        limits[name] = amount(name, wanted=False)
    limits["boxes"] = _boxes(form.get(f"{prefix}boxes", ""), currency, f"{prefix}boxes", made)
    made.config["limits"].append(limits)
    made.config["chips"].append(
        {"currency": currency, "values": _chips(form, f"{prefix}chips", currency, made)}
    )


def _chips(form: Mapping[str, str], name: str, currency: str, made: Parsed) -> list[int]:
    try:
        values = [_amount(text, currency) for text in form.get(name, "").split()]
    except _Wrong as wrong:
        made.errors.append(FieldError(name, wrong.kind))
        return []
    if len(values) != CHIPS or values != sorted(set(values)):
        made.errors.append(FieldError(name, "chips"))
    return values


def _boxes(text: str, currency: str, name: str, made: Parsed) -> list[dict[str, Any]]:
    """Lines such as `3: 5.00-500.00 / 10000.00`: a box, its ante's limits, its cap; either may be missing."""
    found: list[dict[str, Any]] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        match = _is_box(line)
        try:
            if match is None or (match["min"] is None and match["cap"] is None):
                raise _Wrong("box_line")  # noqa: TRY301 - one way for all that is wrong with a line
            ante = None
            if match["min"] is not None:
                ante = {"min": _amount(match["min"], currency), "max": _amount(match["max"], currency)}
            cap = None if match["cap"] is None else _amount(match["cap"], currency)
            found.append({"box": int(match["box"]), "ante": ante, "max_payout": cap})
        except _Wrong as wrong:
            made.errors.append(FieldError(name, wrong.kind))
            break
    return found


def _amount(text: str, currency: str) -> int:
    match, digits = _is_amount(text), minor_digits(currency)
    if match is None or len(match[2] or "") > digits:
        raise _Wrong("amount")
    scale: int = 10**digits
    return int(match[1]) * scale + int((match[2] or "").ljust(digits, "0") or "0")


def _seconds(form: Mapping[str, str], name: str, made: Parsed) -> int:
    match = _is_seconds(form.get(name, "").strip())
    if match is None:
        made.errors.append(FieldError(name, "seconds"))
        return 0
    return int(match[1]) * 1_000 + int((match[2] or "").ljust(3, "0"))


def fields_of(config: Config) -> dict[str, str]:
    """A configuration as the texts of the form's fields."""
    fields = {"name": config.get("name", ""), "ruleset": config.get("ruleset", "")}
    chips = {one["currency"]: one["values"] for one in config.get("chips", ())}
    for number, limits in enumerate(config.get("limits", ())[:MOST_CURRENCIES]):
        prefix = f"c{number}."
        fields |= {f"{prefix}{name}": text for name, text in _limits(limits, chips)}
    durations = config.get("durations") or {}
    fields |= {name: _shown_seconds(durations.get(name)) for name in _TIMES}
    fields |= {name: _shown_seconds(config.get(name, _USUAL.get(name))) for name in _WAITS}
    for name in ("reserve_bet_with_ante", "jackpot_stake_may_vary"):
        fields[name] = "yes" if config.get(name) else ""
    fields["jackpot"] = config.get("jackpot") or ""
    return fields


_USUAL: Final = {"close_drain_ms": 1_500, "default_hold_ms": 1_500}


def _limits(limits: Mapping[str, Any], chips: Mapping[str, Sequence[int]]) -> Iterator[tuple[str, str]]:
    currency = limits["currency"]
    yield "currency", currency
    yield "chip", _shown(limits.get("chip"), currency)
    for name in _RANGES:
        found = limits.get(name) or {}
        for end in ("min", "max"):
            yield f"{name}.{end}", _shown(found.get(end), currency)
    for name in _SINGLE:
        yield name, _shown(limits.get(name), currency)
    yield "chips", " ".join(_shown(value, currency) for value in chips.get(currency, ()))
    yield "boxes", "\n".join(_shown_box(box, currency) for box in limits.get("boxes", ()))


def _shown_box(box: Mapping[str, Any], currency: str) -> str:
    ante, cap = box.get("ante"), box.get("max_payout")
    text = f"{box['box']}:"
    if ante is not None:
        text += f" {_shown(ante['min'], currency)}-{_shown(ante['max'], currency)}"
    return text if cap is None else f"{text} / {_shown(cap, currency)}"


def _shown(amount: int | None, currency: str) -> str:
    if amount is None:
        return ""
    digits = minor_digits(currency)
    text = str(amount).rjust(digits + 1, "0")
    return f"{text[:-digits]}.{text[-digits:]}" if digits else text


def _shown_seconds(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    whole, rest = divmod(milliseconds, 1_000)
    return f"{whole}.{rest:03}".rstrip("0") if rest else str(whole)


def changes(before: Config, after: Config) -> list[Change]:
    """What differs, in the order of the form; a currency that comes or goes is one line."""
    old, new = _by_currency(before), _by_currency(after)
    found = [
        Change(name, "", before.get(name, ""), after[name])
        for name in ("name", "ruleset")
        if before.get(name, "") != after[name]
    ]
    for currency in {**old, **new}:
        if currency not in new or currency not in old:
            gone = currency not in new
            found.append(Change("currency", currency, currency if gone else "", "" if gone else currency))
            if gone:
                continue
        was, now = old.get(currency, {}), new[currency]
        found += [
            Change(name, currency, was.get(name, ""), now[name])
            for name in now
            if name != "currency" and was.get(name, "") != now[name]
        ]
    was, now = fields_of(before), fields_of(after)
    for name in (*_TIMES, *_WAITS, "reserve_bet_with_ante", "jackpot", "jackpot_stake_may_vary"):
        if was[name] != now[name]:
            found.append(Change(name, "", was[name], now[name]))
    return found


def _by_currency(config: Config) -> dict[str, dict[str, str]]:
    chips = {one["currency"]: one["values"] for one in config.get("chips", ())}
    return {one["currency"]: dict(_limits(one, chips)) for one in config.get("limits", ())}
