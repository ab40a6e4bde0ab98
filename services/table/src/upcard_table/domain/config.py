"""What a table's floor decides about it: rules, limits, chips, times. A change counts from the next round."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Final

from rules_core.round.decide.opening import check_durations, check_limits
from rules_core.round.limits import MAX_STAKE, CurrencyLimits, Durations
from rules_core.round.refusal import Refusal, refuse
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.shipped import UnknownRuleset, shipped
from upcard_table.domain.words import is_opaque_id

CHIPS: Final = 10
"""How many chip values a table offers in each currency (RULES.md section 8)."""
MAX_CURRENCIES: Final = 32
MAX_NAME_LENGTH: Final = 64
MAX_CONFIRM_CARDS_MS: Final = 60_000
MAX_CLOSE_DRAIN_MS: Final = 10_000
MAX_DEFAULT_HOLD_MS: Final = 10_000


@dataclass(frozen=True, slots=True)
class ChipValues:
    """The chips that players of one currency are offered."""

    currency: Annotated[str, "Three capital letters."]
    values: Annotated[tuple[int, ...], "Ten, ascending, multiples of the smallest chip; minor units."]


@dataclass(frozen=True, slots=True)
class TableConfig:
    """Everything that the floor decides about a table."""

    name: Annotated[str, "What people call the table; not an id."]
    ruleset: Annotated[str, "`name@version`."]
    limits: Annotated[tuple[CurrencyLimits, ...], "One entry a currency that the table takes."]
    chips: Annotated[tuple[ChipValues, ...], "One entry a currency, the same currencies as `limits`."]
    durations: Annotated[Durations, "Lengths of the windows."]
    confirm_cards_ms: Annotated[
        int, "After so long without another scan the table confirms the cards itself, milliseconds."
    ]
    close_drain_ms: Annotated[
        int, "Most that a close waits for the answers of holds in flight, milliseconds."
    ] = 1_500
    default_hold_ms: Annotated[
        int, "Most that the final window waits for the holds of default bets, milliseconds."
    ] = 1_500
    reserve_bet_with_ante: Annotated[
        bool, "Whether the money of an open box's bet is held with its ante (three antes in all)."
    ] = False
    jackpot: Annotated[str | None, "Opaque id of the progressive jackpot that bonus B plays for."] = None
    jackpot_stake_may_vary: Annotated[
        bool, "Whether bonus B may take other than one fixed amount although it plays for a jackpot."
    ] = False

    def limits_in(self, currency: str) -> CurrencyLimits | None:
        """The limits for players of a currency."""
        return next((one for one in self.limits if one.currency == currency), None)


def ruleset_of(config: TableConfig) -> Ruleset:
    """The ruleset of a configuration. Raises UnknownRuleset where rules_core ships none of that id."""
    return shipped(config.ruleset)


def check_config(config: TableConfig) -> Refusal | None:
    """The first thing that no table can have, or None. Slugs: docs/table.md."""
    if not 0 < len(config.name) <= MAX_NAME_LENGTH or not config.name.isprintable():
        return refuse("name_invalid", f"a name is 1 to {MAX_NAME_LENGTH} printable characters", key="name")
    try:
        ruleset = ruleset_of(config)
    except UnknownRuleset:
        return refuse("ruleset_unknown", "give the id of a ruleset that rules_core ships", key="ruleset")
    return (
        check_durations(config.durations)
        or _check_times(config)
        or _check_limits(ruleset, config)
        or _check_chips(config)
        or _check_jackpot(ruleset, config)
    )


def _check_times(config: TableConfig) -> Refusal | None:
    for key, value, least, most in (
        ("confirm_cards_ms", config.confirm_cards_ms, 1, MAX_CONFIRM_CARDS_MS),
        ("close_drain_ms", config.close_drain_ms, 0, MAX_CLOSE_DRAIN_MS),
        ("default_hold_ms", config.default_hold_ms, 0, MAX_DEFAULT_HOLD_MS),
    ):
        if not least <= value <= most:
            return refuse("durations_invalid", f"{key} must be {least} to {most}", key=key)
    return None


def _check_limits(ruleset: Ruleset, config: TableConfig) -> Refusal | None:
    currencies = [one.currency for one in config.limits]
    if not 0 < len(currencies) <= MAX_CURRENCIES or len(set(currencies)) < len(currencies):
        text = f"give limits for 1 to {MAX_CURRENCIES} currencies, each once"
        return refuse("limits_invalid", text, key="limits")
    for limits in config.limits:
        found = check_limits(ruleset, limits)
        if found is not None:
            return found
    return None


def _check_chips(config: TableConfig) -> Refusal | None:
    if sorted(one.currency for one in config.chips) != sorted(one.currency for one in config.limits):
        return refuse("chips_invalid", "give chips for each currency of the limits, each once", key="chips")
    for chips in config.chips:
        limits = config.limits_in(chips.currency)
        smallest = 1 if limits is None else limits.chip
        values = chips.values
        rising = all(low < high for low, high in pairwise(values))
        if len(values) != CHIPS or not rising or not 0 < values[0] <= values[-1] <= MAX_STAKE:
            text = f"give {CHIPS} ascending chip values, 1 to {MAX_STAKE}"
            return refuse("chips_invalid", text, key="chips", currency=chips.currency)
        if any(value % smallest for value in values):
            text = f"chip values are multiples of the smallest chip, {smallest}"
            return refuse("chips_invalid", text, key="chips", currency=chips.currency)
    return None


def _check_jackpot(ruleset: Ruleset, config: TableConfig) -> Refusal | None:
    shares = any(row.jackpot_share_percent is not None for row in ruleset.bonus_player or ())
    taking = [one for one in config.limits if one.bonus_player is not None]
    if config.jackpot is None:
        if shares and taking:
            text = "bonus B of this ruleset wins shares of a jackpot; name one, or take no bonus B"
            return refuse("jackpot_missing", text, key="jackpot")
        return None
    if not is_opaque_id(config.jackpot):
        return refuse("word_invalid", "a jackpot's id is 1 to 64 letters, digits, - and _", key="jackpot")
    if not shares:
        return refuse("jackpot_not_played", "bonus B of this ruleset wins no jackpot", key="jackpot")
    if len(taking) != 1:
        text = "a jackpot has one currency; take bonus B in exactly one"
        return refuse("jackpot_currency_invalid", text, key="limits")
    bonus = taking[0].bonus_player
    if bonus is not None and not bonus.fixed and not config.jackpot_stake_may_vary:
        text = "a small stake against a large pool is a winning bet: fix bonus B (min = max), or allow it"
        return refuse("jackpot_stake_varies", text, key="limits")
    return None
