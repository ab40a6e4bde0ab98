"""What every use case is given, and what it gives back.

A use case is a function `(office, connection, command, origin) -> Done`. It works in the caller's transaction
and neither commits nor appends: the caller stores `Done.appends` as the transaction's last act, so an answer,
rows and events are stored together or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from eventstore import StreamAppend
from upcard_bonus.app.ports import FreeBets, Jackpots, Rounds, Vault, Watcher
from upcard_bonus.app.recording import Recorder

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class BonusOffice:
    """What the use cases stand on; `bootstrap` makes one for the process."""

    rounds: Rounds
    jackpots: Jackpots
    free_bets: FreeBets
    vault: Vault
    recorder: Recorder
    watcher: Watcher


@dataclass(frozen=True, slots=True)
class Done(Generic[T_co]):
    """What a use case answers, and the events that the caller stores."""

    answer: T_co
    appends: Sequence[StreamAppend] = ()
