"""A seamless purse without a partner: it notes what it is told, and holds nothing by itself."""

from __future__ import annotations

from collections.abc import Sequence

from eventstore.postgres import Connection
from upcard_wallet.app.purse import (
    UNKNOWN,
    AccountRef,
    BookKey,
    Credit,
    FreedHold,
    Heard,
    HoldGroup,
    Outcome,
    PartnerCash,
    PurseKind,
    SettledPlayer,
)


class PartneredPurse:
    """What the ledger sees of a seamless purse."""

    kind: PurseKind = "seamless"
    limited: bool = False

    def __init__(self) -> None:
        self.freed: list[FreedHold] = []
        self.settled: list[SettledPlayer] = []
        self.credits: list[Credit] = []

    def cash_book(self, account: AccountRef) -> BookKey:
        return BookKey("operator", account.operator, account.currency)

    async def place(
        self, groups: Sequence[HoldGroup], deadline: float, heard: Heard | None = None
    ) -> Sequence[Outcome]:
        assert deadline > 0
        assert heard is not None
        return [UNKNOWN] * len(groups)

    async def cash_outside(self, account: AccountRef, within_s: float) -> PartnerCash | None:
        assert within_s > 0
        return PartnerCash(None, f"nobody asks for {account.account}")

    async def release(self, connection: Connection, holds: Sequence[FreedHold]) -> None:
        assert connection.is_in_transaction()
        self.freed += holds

    async def settle(self, connection: Connection, settled: Sequence[SettledPlayer]) -> None:
        assert connection.is_in_transaction()
        self.settled += settled

    async def credit(self, connection: Connection, items: Sequence[Credit]) -> None:
        assert connection.is_in_transaction()
        self.credits += items
