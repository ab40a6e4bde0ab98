"""A table's configuration from a request."""

from __future__ import annotations

from typing import Final

from rules_core.round.limits import AmountRange, BoxLimits, CurrencyLimits, Durations
from servicekit.answering import invalid
from upcard.table.v1 import table_pb2 as pb
from upcard_table.domain.config import ChipValues, TableConfig

_MAX_CURRENCIES: Final = 32
_MAX_BOXES: Final = 64
_USUAL_WAIT_MS: Final = 1_500


def config(message: pb.TableConfig) -> TableConfig:
    """The configuration; whether a table can have it the domain says. Raises CallError for an endless one."""
    if len(message.limits) > _MAX_CURRENCIES or any(len(one.boxes) > _MAX_BOXES for one in message.limits):
        raise invalid(f"limits are for at most {_MAX_CURRENCIES} currencies, and {_MAX_BOXES} boxes in each")
    return TableConfig(
        name=message.name,
        ruleset=message.ruleset,
        limits=tuple(_limits(one) for one in message.limits),
        chips=tuple(ChipValues(one.currency, tuple(one.chips)) for one in message.limits),
        durations=_durations(message.durations),
        confirm_cards_ms=message.confirm_cards_ms,
        close_drain_ms=message.close_drain_ms or _USUAL_WAIT_MS,
        default_hold_ms=message.default_hold_ms or _USUAL_WAIT_MS,
        reserve_bet_with_ante=message.reserve_bet_with_ante,
        jackpot=message.jackpot or None,
        jackpot_stake_may_vary=message.jackpot_stake_may_vary,
    )


def _limits(message: pb.CurrencyLimits) -> CurrencyLimits:
    return CurrencyLimits(
        currency=message.currency,
        chip=message.chip,
        ante=AmountRange(message.ante.min, message.ante.max),
        bonus_player=_range(message.bonus_player) if message.HasField("bonus_player") else None,
        bonus_dealer=_range(message.bonus_dealer) if message.HasField("bonus_dealer") else None,
        insurance_max=message.insurance_max if message.HasField("insurance_max") else None,
        max_payout=message.max_payout if message.HasField("max_payout") else None,
        player_total_max=message.player_total_max if message.HasField("player_total_max") else None,
        boxes=tuple(
            BoxLimits(
                one.box,
                _range(one.ante) if one.HasField("ante") else None,
                one.max_payout if one.HasField("max_payout") else None,
            )
            for one in message.boxes
        ),
    )


def _range(message: pb.AmountRange) -> AmountRange:
    return AmountRange(message.min, message.max)


def _durations(message: pb.Durations) -> Durations:
    return Durations(
        message.betting_ms,
        message.options_ms,
        message.final_options_ms,
        message.purchase_ms,
        message.extension_max_ms,
    )
