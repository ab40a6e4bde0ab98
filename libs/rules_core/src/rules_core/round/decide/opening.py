"""Deciding to open a round: rules, engine and limits are pinned (ARCHITECTURE.md, The log, 6)."""

from __future__ import annotations

import re

from rules_core.engine import ENGINE
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.limits import MAX_AMOUNT, MAX_STAKE, AmountRange, CurrencyLimits, Durations
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.state import RoundState
from rules_core.round.times import plus_ms
from rules_core.rulesets.model import Ruleset

Decision = tuple[e.RoundEvent, ...] | Refusal
MAX_WINDOW_MS = 24 * 60 * 60 * 1000
"""No window and no extension is longer than a day."""


def open_round(command: c.OpenRound, state: RoundState) -> Decision:
    """RoundOpened, or what is wrong with the settings."""
    if state.step != "new":
        return refuse("round_already_open", "this round is open already")
    found = _check_pinned(command, state) or check_durations(command.durations)
    if found is not None:
        return found
    if not command.limits or len({limit.currency for limit in command.limits}) != len(command.limits):
        return refuse("limits_invalid", "give limits for one currency or more, each once")
    for limits in command.limits:
        found = check_limits(state.ruleset, limits)
        if found is not None:
            return found
    closes_at = plus_ms(command.at, command.durations.betting_ms)
    event = e.RoundOpened(
        command.table,
        command.number,
        command.ruleset,
        command.ruleset_sha256,
        command.engine,
        command.limits,
        command.durations,
        command.at,
        closes_at,
        command.deck,
    )
    return (event,)


def _check_pinned(command: c.OpenRound, state: RoundState) -> Refusal | None:
    if (command.ruleset, command.ruleset_sha256) != (state.ruleset.id, state.ruleset.sha256):
        text = "the round's ruleset id and sha256 must be those of the ruleset that decides it"
        return refuse("ruleset_differs", text, ruleset=state.ruleset.id)
    if command.engine != ENGINE:
        return refuse("engine_differs", f"this engine is number {ENGINE}", engine=ENGINE)
    if command.number < 1:
        return refuse("round_number_invalid", "rounds are numbered from 1", number=command.number)
    return None


def check_durations(durations: Durations) -> Refusal | None:
    """Every window has a bounded length."""
    lengths = {
        "betting_ms": durations.betting_ms,
        "options_ms": durations.options_ms,
        "final_options_ms": durations.final_options_ms,
        "purchase_ms": durations.purchase_ms,
    }
    for name, length in lengths.items():
        if not 0 < length <= MAX_WINDOW_MS:
            return refuse("durations_invalid", f"{name} must be 1 to {MAX_WINDOW_MS}", key=name)
    if not 0 <= durations.extension_max_ms <= MAX_WINDOW_MS:
        return refuse(
            "durations_invalid", f"extension_max_ms must be 0 to {MAX_WINDOW_MS}", key="extension_max_ms"
        )
    return None


def check_limits(ruleset: Ruleset, limits: CurrencyLimits) -> Refusal | None:
    """Whether a table of this ruleset can have these limits; the refusal names the key."""
    if re.fullmatch("[A-Z]{3}", limits.currency) is None:
        return _invalid("currency", "a currency is three capital letters")
    if not 0 < limits.chip <= MAX_AMOUNT:
        return _invalid("chip", "the smallest chip must be above zero")
    ranges: dict[str, AmountRange | None] = {
        "ante": limits.ante,
        "bonus_player": limits.bonus_player,
        "bonus_dealer": limits.bonus_dealer,
    }
    for own in limits.boxes:
        if not 1 <= own.box <= ruleset.boxes:
            return _invalid("boxes", f"box {own.box} does not exist")
        ranges[f"boxes.{own.box}.ante"] = own.ante
    if len({own.box for own in limits.boxes}) != len(limits.boxes):
        return _invalid("boxes", "name each box once")
    for key, allowed in ranges.items():
        found = _check_range(key, allowed, limits.chip)
        if found is not None:
            return found
    return _check_bonus(ruleset, limits) or _check_caps(limits)


def _check_range(key: str, allowed: AmountRange | None, chip: int) -> Refusal | None:
    if allowed is None:
        return None
    if not 0 < allowed.min <= allowed.max <= MAX_STAKE:
        return _invalid(key, f"limits need 0 < min <= max <= {MAX_STAKE}")
    if allowed.min % chip or allowed.max % chip:
        return _invalid(key, f"limits must be multiples of the smallest chip, {chip}")
    return None


def _check_bonus(ruleset: Ruleset, limits: CurrencyLimits) -> Refusal | None:
    if limits.bonus_player is not None and ruleset.bonus_player is None:
        return _invalid("bonus_player", "this ruleset has no bonus B")
    if limits.bonus_dealer is not None and ruleset.bonus_dealer is None:
        return _invalid("bonus_dealer", "this ruleset has no bonus D")
    return None


def _check_caps(limits: CurrencyLimits) -> Refusal | None:
    caps = {
        "insurance_max": limits.insurance_max,
        "max_payout": limits.max_payout,
        "player_total_max": limits.player_total_max,
        **{f"boxes.{own.box}.max_payout": own.max_payout for own in limits.boxes},
    }
    for key, cap in caps.items():
        if cap is not None and not 0 <= cap <= MAX_AMOUNT:
            return _invalid(key, f"must be 0 to {MAX_AMOUNT}, or absent")
    return None


def _invalid(key: str, text: str) -> Refusal:
    return refuse("limits_invalid", f"{key}: {text}", key=key)
