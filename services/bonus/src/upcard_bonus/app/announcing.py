"""Rounds, their stakes on B and D, their public cards: what is decided is announced (`BonusDetermined`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from eventstore.postgres import Connection
from rules_core.round import events as e
from upcard_bonus.app.bonus import BonusOffice
from upcard_bonus.app.draft import Draft
from upcard_bonus.app.ports import BetKey, Result, RoundRecord
from upcard_bonus.app.round_facts import RoundFact, RoundUnknown, ruleset_of
from upcard_bonus.domain.ids import bonus_stream
from upcard_bonus.domain.side_bets import (
    BONUS_WAGERS,
    SideBet,
    determined,
    opened,
    subjects_of,
    verdict_of,
    voided,
)

_BONUS_PLAYER: Final = "bonus_player"
_REFUNDED: Final = "refunded"
_DECIDING: Final = (
    e.OptionsOpened,
    e.CardsRevealed,
    e.DealerRevealed,
    e.RoundSettled,
    e.RoundCancelled,
    e.CorrectionDecided,
)
"""After these something may be decided or void: all stakes of the round are needed."""


class SideBets:
    """The side bets of one batch of events; `load`, `apply` each fact, `store`."""

    def __init__(self, office: BonusOffice, draft: Draft) -> None:
        self._office = office
        self._draft = draft
        self.records: dict[str, RoundRecord] = {}
        self._of_tables: Mapping[str, tuple[str, ...]] = {}
        self._bets: dict[str, dict[BetKey, SideBet]] = {}
        self._loaded: set[str] = set()
        self._added: dict[BetKey, SideBet] = {}
        self._removed: set[BetKey] = set()
        self._results: dict[tuple[str, str, int], Result] = {}

    async def load(self, connection: Connection, facts: Sequence[RoundFact]) -> None:
        """Read what these facts need."""
        office = self._office
        self.records = await office.rounds.find(connection, {fact.round for fact in facts})
        self._loaded = {fact.round for fact in facts if isinstance(fact.event, _DECIDING)}
        bets = await office.rounds.bets(connection, self._loaded & self.records.keys())
        for name, those in bets.items():
            self._bets[name] = {BetKey(name, b.player, b.bet_id, b.box, b.wager): b for b in those}
        tables = {fact.event.table for fact in facts if isinstance(fact.event, e.RoundOpened)}
        self._of_tables = await office.jackpots.of_tables(connection, tables)

    def apply(self, fact: RoundFact) -> None:
        """Give an event its effect. Raises RoundUnknown, RulesetUnknown."""
        event = fact.event
        if isinstance(event, e.RoundOpened):
            self._open(fact.round, event)
            return
        record = self.records.get(fact.round)
        if record is None:
            raise RoundUnknown(f"{type(event).__name__} of {fact.round} came, whose beginning was not seen")
        match event:
            case e.BetPlaced():
                self._place(fact.round, event)
            case e.BetWithdrawn():
                self._withdraw(fact.round, event)
            case e.PlayerSettled():
                self._result(record, event)
            case e.RoundSettled() | e.RoundCancelled() | e.CorrectionDecided():
                self._end(record, fact, event)
            case _:
                self._cards(record, fact)

    async def store(self, connection: Connection) -> None:
        """Store it all but the events."""
        rounds = self._office.rounds
        await rounds.save(connection, [one for one in self.records.values() if one.changed])
        await rounds.remove_bets(connection, self._removed)
        await rounds.add_bets(connection, [(key.round, bet) for key, bet in self._added.items()])
        await rounds.put_results(connection, [(key[0], one) for key, one in self._results.items()])

    def _open(self, name: str, event: e.RoundOpened) -> None:
        ruleset_of(event.ruleset, event.ruleset_sha256)
        jackpots = self._of_tables.get(event.table, ())
        self.records[name] = RoundRecord(name, event.ruleset, tuple(jackpots), changed=True)

    def _place(self, name: str, event: e.BetPlaced) -> None:
        for stake in event.stakes:
            if stake.wager not in BONUS_WAGERS:
                continue
            key = BetKey(name, event.player, event.bet_id, stake.box, stake.wager)
            bet = SideBet(event.player, event.bet_id, stake.box, stake.wager, stake.amount, event.currency)
            self._added[key] = bet
            self._bets.setdefault(name, {})[key] = bet

    def _withdraw(self, name: str, event: e.BetWithdrawn) -> None:
        for stake in event.stakes:
            if stake.wager not in BONUS_WAGERS:
                continue
            key = BetKey(name, event.player, stake.bet_id, stake.box, stake.wager)
            self._bets.get(name, {}).pop(key, None)
            if self._added.pop(key, None) is None:
                self._removed.add(key)

    def _cards(self, record: RoundRecord, fact: RoundFact) -> None:
        match fact.event:
            case e.CardScanned(place=place, card=card) | e.CardRescanned(place=place, card=card):
                if card is not None:
                    _show(record, {place: card})
            case e.OptionsOpened():
                self._announce(record, fact)
            case e.CardsRevealed(openings=openings, final=final):
                _show(record, opened(openings))
                # The last openings may be those of a cancelled round: what ends it says so.
                if not final:
                    self._announce(record, fact)
            case e.DealerRevealed(openings=openings):
                _show(record, opened(openings))
                self._announce(record, fact)
            case _:
                pass

    def _end(
        self,
        record: RoundRecord,
        fact: RoundFact,
        event: e.RoundSettled | e.RoundCancelled | e.CorrectionDecided,
    ) -> None:
        record.changed = True
        match event:
            case e.RoundSettled():
                record.step = "settled"
                self._announce(record, fact)
            case e.RoundCancelled():
                record.step = "cancelled"
                self._void(fact, event.reason)
            case e.CorrectionDecided():
                self._correct(record, fact, event)

    def _result(self, record: RoundRecord, event: e.PlayerSettled) -> None:
        if not record.jackpots:
            return
        for box in event.boxes:
            for line in box.lines:
                if line.wager == _BONUS_PLAYER:
                    # A refund takes the stake out of the pools too.
                    amount = 0 if box.outcome == _REFUNDED else line.stake
                    self._results[record.round, event.player, box.box] = Result(
                        event.player,
                        box.box,
                        event.currency,
                        amount,
                        line.jackpot_share_percent,
                        event.revision,
                    )

    def _announce(
        self,
        record: RoundRecord,
        fact: RoundFact,
        *,
        again: Collection[int] = (),
        correction: int = 0,
    ) -> None:
        """Announce what is decided and was not, and what is decided otherwise now."""
        ruleset = ruleset_of(record.ruleset)
        bets = list(self._bets.get(record.round, {}).values())
        for subject in subjects_of(ruleset):
            if subject in record.announced and subject not in again:
                continue
            verdict = verdict_of(ruleset, record.cards, subject)
            if verdict is None:
                continue
            record.announced.add(subject)
            record.changed = True
            events = determined(record.round, subject, verdict, bets, correction)
            self._draft.tell(bonus_stream(record.round), events, fact.origin)
            for event in events:
                self._office.watcher.determined(event.bonus, len(event.stakes))

    def _void(self, fact: RoundFact, reason: str) -> None:
        bets = list(self._bets.get(fact.round, {}).values())
        self._draft.tell(bonus_stream(fact.round), voided(fact.round, reason, bets), fact.origin)

    def _correct(self, record: RoundRecord, fact: RoundFact, event: e.CorrectionDecided) -> None:
        record.corrections = event.number
        if event.refund:
            self._void(fact, event.reason)
            return
        ruleset = ruleset_of(record.ruleset)
        before = {subject: verdict_of(ruleset, record.cards, subject) for subject in record.announced}
        _show(record, {fix.place: fix.card for fix in event.cards})
        changed = {
            subject for subject, was in before.items() if verdict_of(ruleset, record.cards, subject) != was
        }
        self._announce(record, fact, again=changed, correction=event.number)


def _show(record: RoundRecord, cards: Mapping[str, str]) -> None:
    """Note public cards, where any bonus can be decided by them."""
    ruleset = ruleset_of(record.ruleset)
    if ruleset.bonus_player is None and ruleset.bonus_dealer is None:
        return
    wanted = {place: card for place, card in cards.items() if place.startswith(("box.", "dealer."))}
    if wanted:
        record.cards |= wanted
        record.changed = True
