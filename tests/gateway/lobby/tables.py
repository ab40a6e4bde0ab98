"""Tables to show, in few words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rules_core.round.limits import AmountRange, BoxLimits, CurrencyLimits, Durations
from rules_core.rulesets.shipped import shipped
from upcard_gateway.app.lobby_tables import TableNow

CHIPS = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
DURATIONS = Durations(15_000, 20_000, 20_000, 7_500, 60_000)
EUR = CurrencyLimits(
    "EUR",
    100,
    AmountRange(200, 50_000),
    bonus_player=AmountRange(100, 10_000),
    bonus_dealer=AmountRange(100, 5_000),
    insurance_max=200_000,
    max_payout=1_000_000,
    player_total_max=300_000,
    boxes=(BoxLimits(2, AmountRange(500, 20_000), 400_000),),
)
JPY = CurrencyLimits("JPY", 100, AmountRange(100, 100_000))


def table(name: str = "t1", ruleset: str = "live-shared@1", **more: Any) -> TableNow:
    """A table that takes bets of its third round."""
    rules = shipped(ruleset)
    euros = EUR if rules.bonus_dealer else replace(EUR, bonus_dealer=None)
    limits = (euros if rules.bonus_player else replace(euros, bonus_player=None), JPY)
    made = TableNow(
        table=name,
        name=f"Table {name}",
        ruleset=rules,
        open=True,
        dealer="d1",
        round=3,
        step="betting",
        manual_mode=False,
        jackpot=None,
        limits=limits,
        chips=(("EUR", CHIPS), ("JPY", CHIPS)),
        durations=DURATIONS,
        confirm_cards_ms=5_000,
        reserve_bet_with_ante=False,
    )
    return replace(made, **more)
