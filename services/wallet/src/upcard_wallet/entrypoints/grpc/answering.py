"""What all calls of the wallet stand on; how each is answered once is `servicekit.answering`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from servicekit.answering import Answering, fit_correlation_id, who_acts
from upcard_wallet.app.adjustments import Adjustments, DecidedMeanwhile
from upcard_wallet.app.parked import ParkedTables, VerdictMeanwhile
from upcard_wallet.app.partners import Partners
from upcard_wallet.app.ports import HoldExists
from upcard_wallet.app.wallet import Origin, Wallet

AGAIN: Final[tuple[type[Exception], ...]] = (DecidedMeanwhile, VerdictMeanwhile, HoldExists)
"""What a transaction of the wallet that is begun anew may mend."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What all calls stand on."""

    wallet: Wallet
    adjustments: Adjustments
    parked: ParkedTables
    answering: Answering
    partners: Partners | None = None
    """The operators' wallets; None where there can be none."""


def origin() -> Origin:
    """Who acts, for the events of a call: the signed actor, else the service itself."""
    return Origin(who_acts(), fit_correlation_id())
