"""The reference wallet with one defect each: what the kit has to find, and which case names it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from upcard_conformance.reference import broken_books as books
from upcard_conformance.reference import broken_wallets as wallets
from upcard_conformance.reference.book import Book
from upcard_conformance.reference.speaking import Speaker
from upcard_conformance.reference.wallet import ReferenceWallet


@dataclass(frozen=True, slots=True)
class Broken:
    """One defect."""

    name: str
    caught_by: str
    """The case that has to fail; others may fail too."""
    book: type[Book] = Book
    wallet: type[ReferenceWallet] = ReferenceWallet
    speaker: type[Speaker] = Speaker
    dialects: tuple[str, ...] = ("plain", "single")
    """In which it can be seen at all."""

    @property
    def what(self) -> str:
        """The defect, in a sentence."""
        for part, whole in ((self.book, Book), (self.wallet, ReferenceWallet), (self.speaker, Speaker)):
            if part is not whole:
                return (part.__doc__ or "").strip()
        raise LookupError(f"{self.name} breaks nothing")

    def open_book(self, path: Path | str) -> Book:
        """Its book."""
        return self.book(path)


_BATCHES: Final = ("plain",)

BROKEN: Final = {
    one.name: one
    for one in (
        Broken("forgets-duplicates", "bet_repeated", books.ForgetsDuplicates),
        Broken("refuses-duplicates", "win_repeated", books.RefusesDuplicates),
        Broken("takes-changed-repeats", "bet_changed", books.TakesChangedRepeats),
        Broken("forgets-unknown-rollbacks", "rollback_comes_first", books.ForgetsUnknownRollbacks),
        Broken("takes-undone-bets", "undone_bet_again", books.TakesUndoneBets),
        Broken("refuses-unknown-rollbacks", "rollback_of_unknown", books.RefusesUnknownRollbacks),
        Broken("rolls-back-twice", "rollback_repeated", books.RollsBackTwice),
        Broken("rolls-back-for-anybody", "rollback_of_anothers_win", books.RollsBackForAnybody),
        Broken("rolls-back-nothing", "rollback_of_bet", books.RollsBackNothing),
        Broken("truncates-amounts", "bet_of_odd_amounts", books.TruncatesAmounts),
        Broken("floats-amounts", "win_of_odd_amounts", books.FloatsAmounts),
        Broken("takes-any-currency", "bet_in_other_currency", books.TakesAnyCurrency),
        Broken("names-other-currency", "bet_is_taken", books.NamesOtherCurrency),
        Broken("tells-old-balances", "bet_is_taken", books.TellsOldBalances),
        Broken("accepts-without-funds", "bet_without_funds", books.AcceptsWithoutFunds),
        Broken("overdraws", "bets_beyond_the_balance_at_once", books.Overdraws),
        Broken("refuses-wins-without-session", "win_without_session", books.RefusesWinsWithoutSession),
        Broken(
            "refuses-rollbacks-without-session",
            "rollback_without_session",
            books.RefusesRollbacksWithoutSession,
        ),
        Broken("refuses-wins-after-close", "win_after_close", books.RefusesWinsAfterClose),
        Broken("refuses-wins-of-nothing", "win_of_nothing", books.RefusesWinsOfNothing),
        Broken(
            "takes-half-of-a-call", "bet_of_several_is_taken", books.TakesHalfOfACall, dialects=("plain",)
        ),
        Broken("accepts-strangers", "win_of_nobody", books.AcceptsStrangers),
        Broken("loses-on-crash", "nothing_is_lost_in_a_crash", books.LosesOnCrash),
        Broken("ignores-signature", "strangers_signature_is_not_done", wallet=wallets.IgnoresSignature),
        Broken("checks-signature-too-late", "unsigned_is_not_done", wallet=wallets.ChecksSignatureTooLate),
        Broken("doubles-duplicates-at-once", "win_repeated_at_once", wallet=wallets.DoublesDuplicatesAtOnce),
        Broken("reads-then-writes", "different_bets_at_once", wallet=wallets.ReadsThenWrites),
        Broken("forgets-when-cut-off", "win_cut_off", wallet=wallets.ForgetsWhenCutOff),
        Broken("says-server-error", "bet_without_funds", wallet=wallets.SaysServerError),
        Broken("hangs-up", "bet_is_taken", wallet=wallets.HangsUp),
        Broken("answers-late", "answers_in_time", wallet=wallets.AnswersLate),
        Broken("caches-balances", "balance_is_told", wallet=wallets.CachesBalances),
        Broken("names-other-amount", "bet_is_taken", speaker=wallets.NamesOtherAmount),
        Broken("names-other-call", "bet_is_taken", speaker=wallets.NamesOtherCall),
        Broken("names-other-player", "bet_is_taken", speaker=wallets.NamesOtherPlayer),
    )
}
"""All defects by name."""
