"""The demonstration's five tables, one of each ruleset: limits, chips and short windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rules_core.rulesets.shipped import shipped
from upcard.table.v1 import table_pb2

CURRENCY: Final = "EUR"
CHIPS: Final = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
JACKPOT: Final = "demo-jackpot"
BONUS_STAKE: Final = 100
MAX_PAYOUT: Final = 500_000


@dataclass(frozen=True, slots=True)
class DemoTable:
    """A table, its ruleset and how many may play there in a round."""

    table: str
    ruleset: str
    seats: int | None
    """None: as many as like."""

    @property
    def shared(self) -> bool:
        """Whether all players play the same boxes."""
        return self.seats is None


TABLES: Final = (
    DemoTable("demo-live", "live-shared@1", None),
    DemoTable("demo-dark", "dark-boxes@1", 3),
    DemoTable("demo-classic", "classic@1", 2),
    DemoTable("demo-three", "three-box@1", 1),
    DemoTable("demo-four", "four-box@1", 2),
)


def config_of(table: DemoTable) -> table_pb2.TableConfig:
    """How it is played: windows of seconds, so that a demonstration is over in a minute."""
    ruleset = shipped(table.ruleset)
    limits = table_pb2.CurrencyLimits(
        currency=CURRENCY,
        chip=50,
        ante=table_pb2.AmountRange(min=100, max=2_000),
        max_payout=MAX_PAYOUT,
        chips=CHIPS,
    )
    if ruleset.bonus_player is not None:
        least = BONUS_STAKE if not table.shared else 50
        most = BONUS_STAKE if not table.shared else 1_000
        limits.bonus_player.CopyFrom(table_pb2.AmountRange(min=least, max=most))
    if ruleset.bonus_dealer is not None:
        limits.bonus_dealer.CopyFrom(table_pb2.AmountRange(min=50, max=1_000))
    jackpot = any(row.jackpot_share_percent is not None for row in ruleset.bonus_player or ())
    return table_pb2.TableConfig(
        name=ruleset.title,
        ruleset=table.ruleset,
        limits=[limits],
        durations=table_pb2.Durations(
            betting_ms=2_500,
            options_ms=2_000,
            final_options_ms=2_000,
            purchase_ms=1_500,
            extension_max_ms=20_000,
        ),
        confirm_cards_ms=1_000,
        close_drain_ms=1_500,
        default_hold_ms=1_500,
        jackpot=JACKPOT if jackpot else "",
    )
