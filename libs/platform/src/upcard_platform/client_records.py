"""What happened, an area each: rounds as their players may see them, and reports."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import dataclass

from upcard_platform.client_areas import MOST, Area
from upcard_platform.client_calls import Query, Value, path_of
from upcard_platform.models import reports, rounds

__all__ = ["Chosen", "Day", "OneRound", "Period", "Reports", "Rounds"]


@dataclass(frozen=True, slots=True)
class Day:
    """The transactions of a day (UTC)."""

    day: dt.date

    def query(self) -> dict[str, Value]:
        """How the API is asked for them."""
        return {"day": self.day}


@dataclass(frozen=True, slots=True)
class Period:
    """The transactions from `since` on; `until` is not in it."""

    since: dt.datetime
    until: dt.datetime

    def query(self) -> dict[str, Value]:
        """How the API is asked for them."""
        return {"since": self.since, "until": self.until}


@dataclass(frozen=True, slots=True)
class OneRound:
    """The transactions of one round, by its name."""

    round: str

    def query(self) -> dict[str, Value]:
        """How the API is asked for them."""
        return {"round": self.round}


Chosen = Day | Period | OneRound
"""Which transactions are asked for."""


class Rounds(Area):
    """Rounds that your players have played. A round's name is `<table>.<number>`."""

    async def of_player(
        self,
        player: str,
        *,
        currency: str = "",
        since: dt.datetime | None = None,
        until: dt.datetime | None = None,
        limit: int = MOST,
        after: str | None = None,
    ) -> rounds.PlayerRoundList:
        """A player's rounds that were opened in this period, the newest first."""
        query: Query = {
            "currency": currency or None,
            "since": since,
            "until": until,
            "limit": limit,
            "after": after,
        }
        return await self._calls.get(path_of("players", player, "rounds"), rounds.PlayerRoundList, query)

    async def detail(self, player: str, round_name: str) -> rounds.RoundDetail:
        """A round as the player may see it: cards, choices, why each wager ended as it did."""
        return await self._calls.get(path_of("players", player, "rounds", round_name), rounds.RoundDetail)

    async def events(
        self, player: str, round_name: str, *, limit: int = MOST, after: str | None = None
    ) -> rounds.RoundEventList:
        """What happened in a round, in the order in which it was shown to the player."""
        path = path_of("players", player, "rounds", round_name, "events")
        return await self._calls.get(path, rounds.RoundEventList, {"limit": limit, "after": after})

    async def link(self, player: str, round_name: str) -> rounds.RoundLink:
        """An address that shows the round to its player, without signing in, for ever."""
        path = path_of("players", player, "rounds", round_name, "link")
        return await self._calls.get(path, rounds.RoundLink)

    async def of_players(self, round_name: str) -> rounds.RoundOfPlayers:
        """A round with the parts that your own players have in it."""
        return await self._calls.get(path_of("rounds", round_name), rounds.RoundOfPlayers)


class Reports(Area):
    """Money: open rounds, statements, transactions, what a day comes to. Days are of UTC.

    Methods that end with `_csv` give the lines of the same report as a file, as they come.
    """

    async def open_rounds(self, *, limit: int = MOST, after: str | None = None) -> reports.OpenRoundList:
        """What your players have at stake in rounds that have not ended."""
        query = {"limit": limit, "after": after}
        return await self._calls.get(path_of("reports", "open-rounds"), reports.OpenRoundList, query)

    def open_rounds_csv(self) -> AsyncIterator[str]:
        """The same as a file."""
        return self._calls.lines(path_of("reports", "open-rounds.csv"))

    async def statement(
        self,
        player: str,
        currency: str,
        since: dt.datetime,
        until: dt.datetime,
        *,
        limit: int = MOST,
        after: str | None = None,
    ) -> reports.Statement:
        """A player's money in a period: opening, each change with the balance after it, closing."""
        query: Query = {
            "currency": currency,
            "since": since,
            "until": until,
            "limit": limit,
            "after": after,
        }
        return await self._calls.get(path_of("players", player, "statement"), reports.Statement, query)

    def statement_csv(
        self, player: str, currency: str, since: dt.datetime, until: dt.datetime
    ) -> AsyncIterator[str]:
        """The same as a file."""
        query: Query = {"currency": currency, "since": since, "until": until}
        return self._calls.lines(path_of("players", player, "statement.csv"), query)

    async def transactions(
        self, of: Chosen, *, limit: int = MOST, after: str | None = None
    ) -> reports.TransactionList:
        """Everything that moved money of your players, each line with all that it is traced by."""
        query = of.query() | {"limit": limit, "after": after}
        return await self._calls.get(path_of("reports", "transactions"), reports.TransactionList, query)

    def transactions_csv(self, of: Chosen) -> AsyncIterator[str]:
        """The same as a file."""
        return self._calls.lines(path_of("reports", "transactions.csv"), of.query())

    async def reconciliation(self, day: dt.date) -> reports.Reconciliation:
        """What a day comes to, and whether everything was found to agree."""
        query = {"day": day}
        return await self._calls.get(path_of("reports", "reconciliation"), reports.Reconciliation, query)

    def reconciliation_csv(self, day: dt.date) -> AsyncIterator[str]:
        """The same as a file."""
        return self._calls.lines(path_of("reports", "reconciliation.csv"), {"day": day})
