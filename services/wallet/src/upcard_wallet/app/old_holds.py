"""Old holds: money that is held for longer than rounds last. The table's owner says what became of it.

The wallet never frees such a hold by itself: it cannot know whether the round has a stake for it. The owner
points to the stake, or declines the command from then on; only that word frees the money.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from eventstore.postgres import Connection
from upcard_wallet.app.ports import Hold
from upcard_wallet.app.release_holds import release_holds
from upcard_wallet.app.wallet import Done, Origin, Wallet
from upcard_wallet.domain.ids import TIP

Word = Literal["staked", "declined"]
"""What a round's owner says of a command: it is a stake (or reserved for one), or never will be."""


@dataclass(frozen=True, slots=True)
class OldCommand:
    """A command whose holds have been open for long."""

    round: str
    """`<table>.<number>`."""
    player: str
    currency: str
    bet_id: str
    holds: tuple[Hold, ...]
    """Those that are held, 1 or more."""
    asked: int
    """How often its owner was asked, this time included."""

    @property
    def is_tip(self) -> bool:
        """Whether it is no bet but a tip that nobody has asked for again: no table knows of it."""
        return all(hold.wager == TIP for hold in self.holds)


class RoundOwner(Protocol):
    """Who owns the tables."""

    async def word_on(self, command: OldCommand, timeout_s: float) -> Word | None:
        """What became of the command; None: nobody could say now. Raises nothing but CancelledError."""
        ...


class Questions(Protocol):
    """Which commands are to be asked about."""

    async def claim(
        self, connection: Connection, older_than_s: float, limit: int, claim_s: float
    ) -> Sequence[OldCommand]:
        """Up to `limit` commands, the oldest first, that no other instance asks about for `claim_s`."""
        ...

    async def again_in(self, connection: Connection, commands: Sequence[tuple[OldCommand, float]]) -> None:
        """Ask about these again after so many seconds each."""
        ...

    async def forget(self, connection: Connection, limit: int) -> int:
        """Forget up to `limit` questions whose commands hold nothing any more; how many there were."""
        ...


async def free_declined(
    wallet: Wallet, connection: Connection, commands: Sequence[OldCommand], origin: Origin
) -> Done[int]:
    """Free the holds of commands that their rounds' owner has declined; how many were held until now."""
    holds = [hold.hold for command in commands for hold in command.holds]
    done = await release_holds(wallet, connection, holds, "declined", origin)
    return Done(sum(one == "released" for one in done.answer.values()), done.appends)
