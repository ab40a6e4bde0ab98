"""Books with one defect each, of the kind that real wallets have: the kit has to find every one."""

from __future__ import annotations

import contextlib
import sqlite3
import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from upcard_conformance.reference.book import (
    SCHEMA,
    Answer,
    Book,
    Kind,
    Known,
    Movement,
    Order,
    Reason,
    State,
)


class ForgetsDuplicates(Book):
    """What comes twice moves twice."""

    def again(self, order: Order, known: dict[str, Known]) -> Answer:
        """Moves again what was done."""
        answer = super().again(order, known)
        if answer.repeated:
            self.change(order, -order.total if order.kind == "bet" else order.total)
            return self.accepted(order)
        return answer


class RefusesDuplicates(Book):
    """What comes twice is refused, as if it had not been done."""

    def again(self, order: Order, known: dict[str, Known]) -> Answer:
        """Refuses what was done."""
        answer = super().again(order, known)
        return self.refused(order, "other") if answer.repeated else answer


class TakesChangedRepeats(Book):
    """Another amount under an id that was used: `done`, it says, whatever the amount."""

    def again(self, order: Order, known: dict[str, Known]) -> Answer:
        """Looks at nothing but the ids."""
        answer = super().again(order, known)
        return self.accepted(order, repeated=True) if answer.reason == "differs" else answer


class ForgetsUnknownRollbacks(Book):
    """A rollback of what is not there leaves no trace: the bet that comes after it is taken."""

    def write(self, order: Order, movements: Sequence[Movement], kind: Kind, state: State) -> None:
        """Writes down only what was done."""
        if state != "never":
            super().write(order, movements, kind, state)


class TakesUndoneBets(Book):
    """A bet that was rolled back is taken when it comes again."""

    def again(self, order: Order, known: dict[str, Known]) -> Answer:
        """Takes what was undone."""
        answer = super().again(order, known)
        if answer.reason == "undone" and order.kind == "bet":
            self.change(order, -order.total)
            return self.accepted(order)
        return answer


class RefusesUnknownRollbacks(Book):
    """A rollback of what is not there is an error like any other: nobody can tell what it means."""

    def refused(self, order: Order, reason: Reason) -> Answer:
        """Says `other` for `unknown`."""
        return super().refused(order, "other" if reason == "unknown" else reason)


class RollsBackTwice(Book):
    """A rollback that comes twice pays twice."""

    def rolled_back(self, order: Order, known: dict[str, Known]) -> Answer:
        """Pays again for what was undone."""
        answer = super().rolled_back(order, known)
        if answer.repeated:
            self.change(order, order.total)
        return answer


class RollsBackForAnybody(Book):
    """A rollback is looked up by its id alone: one player pays for another's."""

    def rolled_back(self, order: Order, known: dict[str, Known]) -> Answer:
        """Takes every transaction for the caller's."""
        mine = {
            name: replace(one, player=order.player, currency=order.currency) for name, one in known.items()
        }
        return super().rolled_back(order, mine)


class RollsBackNothing(Book):
    """A rollback is answered with yes, and nothing is given back."""

    def undo(self, standing: Sequence[Known]) -> None:
        """Undoes, and takes the money away again."""
        super().undo(standing)
        for one in standing:
            by = -one.amount if one.kind == "bet" else one.amount
            self.change(Order("rollback", one.player, one.currency, one.round, ()), by)


class TruncatesAmounts(Book):
    """Cents are cut off: amounts went through whole units somewhere."""

    def change(self, order: Order, by: int) -> None:
        """Moves whole units alone."""
        super().change(order, (abs(by) // 100 * 100) * (1 if by > 0 else -1))


class FloatsAmounts(Book):
    """Amounts go through floating point of 32 bits: large ones come out as others."""

    def change(self, order: Order, by: int) -> None:
        """Moves what is left of the amount."""
        super().change(order, int(struct.unpack("f", struct.pack("f", by))[0]))


class TakesAnyCurrency(Book):
    """The currency is not looked at: a hundred yen are taken as a hundred euros."""

    def carried_out(self, order: Order) -> Answer:
        """Does everything in the one currency that the player has."""
        row = self.connection.execute(
            "SELECT currency FROM players WHERE player = ? ORDER BY currency", (order.player,)
        ).fetchone()
        if row is None:
            return super().carried_out(order)
        return super().carried_out(Order(order.kind, order.player, row[0], order.round, order.movements))


class NamesOtherCurrency(Book):
    """Answers name the house's currency, not the player's."""

    def accepted(self, order: Order, *, repeated: bool = False) -> Answer:
        """Names one currency in all answers."""
        answer = super().accepted(order, repeated=repeated)
        return Answer(None, answer.balance, repeated, "USD" if order.currency != "USD" else "EUR")


class TellsOldBalances(Book):
    """Answers name the balance of before the call: the player is shown money that is gone."""

    def accepted(self, order: Order, *, repeated: bool = False) -> Answer:
        """Tells what the player had."""
        answer = super().accepted(order, repeated=repeated)
        if repeated or order.kind == "rollback" or answer.balance is None:
            return answer
        before = order.total if order.kind == "bet" else -order.total
        return replace(answer, balance=answer.balance + before)


class AcceptsWithoutFunds(Book):
    """A bet without funds is answered with yes, and not taken."""

    def refused(self, order: Order, reason: Reason) -> Answer:
        """Says yes for want of funds."""
        return self.accepted(order) if reason == "funds" else super().refused(order, reason)


class Overdraws(Book):
    """Funds are not looked at: players go below zero."""

    def moved(self, order: Order) -> Answer:
        """Takes what is not there."""
        answer = super().moved(order)
        if answer.reason == "funds":
            self.change(order, -order.total)
            self.write(order, order.movements, order.kind, "done")
            return self.accepted(order)
        return answer


class RefusesWinsWithoutSession(Book):
    """A win of a player who has signed out meanwhile is refused."""

    def moved(self, order: Order) -> Answer:
        """Asks for a session whatever the call."""
        return super().moved(order) if self.signed_in(order) else self.refused(order, "session")


class RefusesRollbacksWithoutSession(Book):
    """A rollback of a player who has signed out meanwhile is refused."""

    def rolled_back(self, order: Order, known: dict[str, Known]) -> Answer:
        """Asks for a session."""
        if not self.signed_in(order):
            return self.refused(order, "session")
        return super().rolled_back(order, known)


class RefusesWinsAfterClose(Book):
    """A correction of a round that is over is refused: its win never arrives."""

    def moved(self, order: Order) -> Answer:
        """Pays one win a round."""
        row = self.connection.execute(
            "SELECT 1 FROM movements WHERE kind = 'win' AND round = ? AND player = ?",
            (order.round, order.player),
        ).fetchone()
        if order.kind == "win" and row is not None:
            return self.refused(order, "other")
        return super().moved(order)


class RefusesWinsOfNothing(Book):
    """A win of 0, which ends a round that paid nothing, is refused as invalid."""

    def moved(self, order: Order) -> Answer:
        """Wants amounts above 0."""
        return self.refused(order, "other") if order.total == 0 else super().moved(order)


class TakesHalfOfACall(Book):
    """Of several transactions in one call only the first is taken, and the answer is yes."""

    def change(self, order: Order, by: int) -> None:
        """Moves the first alone."""
        if order.kind == "bet" and by < 0:
            by = -order.movements[0].amount
        super().change(order, by)


class AcceptsStrangers(Book):
    """Calls for a player who is not there are answered with yes, and the money is nowhere."""

    def carried_out(self, order: Order) -> Answer:
        """Says yes for whoever is not there."""
        if self.why_not(order.player, order.currency) == "player":
            return Answer(None, 0)
        return super().carried_out(order)


class LosesOnCrash(Book):
    """The book is in memory and written to its file when the wallet ends in order."""

    def __init__(self, path: Path | str) -> None:
        """Begin with what the file holds."""
        super().__init__(":memory:")
        self.path = path
        with contextlib.closing(sqlite3.connect(path)) as file:
            file.backup(self.connection)
        self.connection.executescript(SCHEMA)

    def close(self) -> None:
        """Write the file."""
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            self.connection.backup(file)
        super().close()
