"""Money before stakes: what a command needs, what bets by default need, what open holds are to a round.

The port to whoever holds the money is `app.ports.Funds`. For each command that may stake: `wagers_to_hold`,
`Funds.ask`, and the command decided again with `funds_of` the answer. At the close of the final window
`default_bets` and `unfunded`. After a take-over `to_decline`, and when the wallet asks `standing_of`.
"""

from __future__ import annotations

from upcard_table.app.funding.defaults import DefaultBet, default_bet_id, default_bets, unfunded
from upcard_table.app.funding.needs import (
    NOTHING,
    Needed,
    funds_of,
    may_stake_money,
    stakes_of,
    wagers_to_hold,
)
from upcard_table.app.funding.resolving import Standing, is_default_stake, standing_of, to_decline

__all__ = [
    "NOTHING",
    "DefaultBet",
    "Needed",
    "Standing",
    "default_bet_id",
    "default_bets",
    "funds_of",
    "is_default_stake",
    "may_stake_money",
    "stakes_of",
    "standing_of",
    "to_decline",
    "unfunded",
    "wagers_to_hold",
]
