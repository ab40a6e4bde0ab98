"""What every use case is given, what it is told, and what it gives back.

A use case is a function `(wallet, connection, command, origin) -> Done`. It works in the caller's transaction
and neither commits nor appends: the caller stores `Done.appends` with `append_in_transaction` as the last act
of that transaction (a refusal may have some too), so an answer, rows and events are stored together or not at
all. Only `place_holds` has transactions of its own, since a partner may have to be asked between two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from eventstore import StreamAppend
from upcard_wallet.app.ports import Ledger, Watcher
from upcard_wallet.app.purse import Purse, PurseKind
from upcard_wallet.app.recording import Recorder

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Wallet:
    """What the use cases stand on; `bootstrap` makes one for the process."""

    ledger: Ledger
    purses: Mapping[PurseKind, Purse]
    recorder: Recorder
    watcher: Watcher


@dataclass(frozen=True, slots=True)
class Origin:
    """Who acts, and what led to it; it goes into the events."""

    actor: str
    """`player:<id>`, `dealer:<id>`, `staff:<id>`, `platform` or `system`: from the signed call context."""
    correlation_id: str
    """Opaque, 1 to 64 letters, digits, hyphens and underscores."""
    causation_id: str | None = None
    """The event of another service that led to it: its id."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal for reasons of business. Nothing was changed."""

    reason: str
    """A slug: see each use case."""


@dataclass(frozen=True, slots=True)
class Done(Generic[T_co]):
    """What a use case answers, and the events that the caller stores as the transaction's last act."""

    answer: T_co
    appends: Sequence[StreamAppend] = ()
