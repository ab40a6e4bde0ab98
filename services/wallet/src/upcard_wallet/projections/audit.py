"""The audit: a follower of the wallet's own log that checks whatever an event touched, right behind it.

The position is the log's, so nothing is left out and nothing is ever scanned whole. What does not agree is
noted in `wallet.differences` and looked at again; what outlives `ALARM_AFTER_S` is an alarm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from eventstore import RecordedEvent
from eventstore.postgres import Connection
from rules_core.log.content import parse_content
from upcard_wallet.adapters.postgres.audit import AuditTables, Difference, PostedAmounts
from upcard_wallet.adapters.postgres.checkpoints import note_days
from upcard_wallet.adapters.postgres.round_totals import compare_totals
from upcard_wallet.app.recording import decode
from upcard_wallet.domain.auditing import Expected, expected_of
from upcard_wallet.domain.events import JackpotPosted, WagersSettled

FOLLOWER: Final = "wallet-audit"
"""The name under which its position is kept."""

ALARM_AFTER_S: Final = 30.0
"""How old a difference may become before it is an alarm; longer than any transaction lasts."""

MAX_DIFFERENCES: Final = 1_000
"""Most differences that are looked at again, or shown, at once."""


MAX_ROUNDS: Final = 100
"""Most rounds whose sums are compared at once: each may have thousands of players."""


@dataclass
class _Touched:
    accounts: set[str] = field(default_factory=set)
    pools: set[str] = field(default_factory=set)
    rounds: set[tuple[str, str]] = field(default_factory=set)
    transactions: dict[UUID, tuple[UUID, Expected]] = field(default_factory=dict)


class Audit:
    """The handler of the follower, and what is shown of it."""

    def __init__(self, *, after_end_s: float = ALARM_AFTER_S) -> None:
        self._after_end_s = after_end_s
        self._tables = AuditTables()

    async def handle(self, connection: Connection, events: Sequence[RecordedEvent]) -> None:
        """Check whatever these events touched: a handler of `eventstore.following`, for the own log.

        What needs a statement checkpoint is noted on the way.
        """
        touched = _touched_by(events)
        found = await self._check(connection, touched.accounts, touched.pools, touched.rounds)
        posted = await self._tables.posted(connection, touched.transactions)
        await note_days(connection, touched.transactions)
        for transaction, (event, expected) in touched.transactions.items():
            found += _disagreeing(transaction, event, expected, posted.get(transaction))
        await self._tables.note(connection, found)

    async def look_again(self, connection: Connection) -> None:
        """Check again what did not agree, and forget what does now. To be called every few seconds."""
        async with connection.transaction():  # which rounds were looked at, and what was found, go together
            await self._look_again(connection)

    async def _look_again(self, connection: Connection) -> None:
        noted = await self._tables.noted(connection, MAX_DIFFERENCES)
        again = [one for one in noted if not one.kind.startswith("transaction")]
        accounts = {one.account for one in again if one.account is not None}
        pools = {one.subject for one in again if one.kind == "balance_jackpot"}
        rounds = {
            (one.round, one.account) for one in again if one.round is not None and one.account is not None
        }
        found = await self._check(connection, accounts, pools, rounds)
        ended = [one.subject for one in again if one.kind == "held_after_end"]
        found += await self._tables.left_over(connection, self._after_end_s, ended)
        totals = {one.round for one in again if one.kind.startswith("round_") and one.round is not None}
        found += await compare_totals(connection, totals, MAX_ROUNDS)
        still = {(one.kind, one.subject) for one in found}
        await self._tables.note(connection, found)
        await self._tables.forget(
            connection, [(one.kind, one.subject) for one in again if (one.kind, one.subject) not in still]
        )

    async def differences(self, connection: Connection) -> list[Difference]:
        """Everything that does not agree now, with its age: for metrics, and for people."""
        return [
            *await self._tables.noted(connection, MAX_DIFFERENCES),
            *await self._tables.suspense(connection, MAX_DIFFERENCES),
        ]

    async def _check(
        self,
        connection: Connection,
        accounts: set[str],
        pools: set[str],
        rounds: set[tuple[str, str]],
    ) -> list[Difference]:
        return [
            *await self._tables.books(connection, accounts, pools),
            *await self._tables.held(connection, accounts),
            *await self._tables.settled(connection, rounds),
        ]


def alarms(differences: Sequence[Difference]) -> list[Difference]:
    """Those that are alarms: older than `ALARM_AFTER_S`, or of a kind that is one at once."""
    return [one for one in differences if one.kind in _AT_ONCE or one.age_s > ALARM_AFTER_S]


_AT_ONCE: Final = frozenset({"suspense", "held_after_end"})


def _touched_by(events: Sequence[RecordedEvent]) -> _Touched:
    touched = _Touched()
    for recorded in events:
        if not recorded.stream.startswith("account-"):
            continue
        content = parse_content(recorded.content)
        event = decode(content.type, content.version, content.payload)
        account = recorded.stream.removeprefix("account-")
        if isinstance(event, JackpotPosted):
            touched.pools.add(event.jackpot)
        else:
            touched.accounts.add(account)
        if isinstance(event, WagersSettled):
            touched.rounds.add((event.round, account))
        expected = expected_of(event)
        if expected is not None:
            touched.transactions[UUID(expected[0])] = (recorded.event_id, expected[1])
    return touched


def _disagreeing(
    transaction: UUID, event: UUID, expected: Expected, posted: PostedAmounts | None
) -> list[Difference]:
    if posted is None or posted.event != event:
        return [Difference("transaction_missing", str(transaction), None, None, 1, 0)]
    found = [
        Difference(f"transaction_zero_{currency}", str(transaction), None, None, 0, amount)
        for currency, amount in posted.currencies.items()
        if amount
    ]
    kinds = dict(posted.kinds)
    kinds["cash"] = kinds.get("player_cash", 0) + kinds.get("operator", 0)
    found += [
        Difference(f"transaction_{kind}", str(transaction), None, None, amount, kinds.get(kind, 0))
        for kind, amount in expected.items()
        if kinds.get(kind, 0) != amount
    ]
    return found
