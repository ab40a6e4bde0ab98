"""Whole rounds that the dealer deals by hand: what lies face down is named when it is opened."""

from __future__ import annotations

from rules_core.cards import DECK, Card
from rules_core.round import commands as c
from rules_core.round.decide.cards import face_down
from tests.table.owner.world import DEALER, Owned, player_by
from upcard_table.app.calls import By, Refused, Result, RoundWork
from upcard_table.domain import commands as t


class ByHand:
    """A dealer without a shoe reader."""

    def __init__(self, owned: Owned) -> None:
        self.owned = owned
        self.deck = list(DECK)
        self.scans = 0

    async def lay(self) -> None:
        """Lay all that is awaited; only what lies open is named."""
        while self.owned.live.state.awaited:
            place = self.owned.live.state.awaited[0]
            down = face_down(self.owned.live.state, place) and not place.startswith("switch.")
            self.scans += 1
            card = None if down else self.deck.pop(0)
            command = c.ScanCard(f"by-hand-{self.scans}", card, source="manual")
            await self.owned.done(RoundWork(command, DEALER, by_hand=True))

    def unread(self) -> tuple[tuple[str, Card], ...]:
        """Cards for every place that nobody has read."""
        return tuple((place, self.deck.pop(0)) for place in sorted(self.owned.live.state.unread))

    async def confirm(self, cards: tuple[tuple[str, Card], ...] = (), by: By = DEALER) -> Result:
        """The dealer confirms, and names cards."""
        return await self.owned.one(RoundWork(c.ConfirmCards("", "", cards), by))


async def by_hand(owned: Owned, ruleset: str = "live-shared@1") -> ByHand:
    """A table in manual mode, with a round that is dealt."""
    await owned.prepare(ruleset)
    await owned.table(t.EnterManualMode("reader_failed"))
    await owned.open_round()
    await owned.done(owned.bet("p1"))
    await owned.pass_window()
    hand = ByHand(owned)
    await hand.lay()
    await owned.confirm()
    return hand


async def final_window(owned: Owned) -> ByHand:
    """A round by hand whose player has been asked for a last decision, and has decided."""
    hand = await by_hand(owned)
    await owned.pass_window()
    await hand.lay()
    await owned.confirm()
    assert owned.live.state.step == "final_options"
    await owned.done(RoundWork(c.ChooseFinalOption("p1", 2, "bet", "", bet_id="final-1"), player_by("p1")))
    await owned.until(lambda: owned.live.state.step == "next")
    return hand


async def test_a_round_whose_last_window_is_over_is_opened_by_the_dealers_words(owned: Owned) -> None:
    hand = await final_window(owned)
    missing = await hand.confirm()
    assert isinstance(missing, Refused)
    assert missing.refusal.code == "nothing_to_confirm"
    cards = hand.unread()
    part = await hand.confirm(cards[:1])
    assert isinstance(part, Refused)
    assert part.refusal.code == "card_missing"
    await owned.round(c.ConfirmCards("", "", cards))
    await owned.until(lambda: owned.live.ended or owned.live.state.window is not None)
    if not owned.live.ended:
        await owned.pass_window()
        await owned.until(lambda: owned.live.ended)
    names = await owned.names()
    assert names[-1] == "RoundSettled"
    assert "DealerRevealed" in names
    await owned.check_replay()


async def test_nobody_but_the_tables_dealer_names_them(owned: Owned) -> None:
    hand = await final_window(owned)
    other = await hand.confirm(hand.unread(), By("dealer:d9", "corr-d9"))
    assert isinstance(other, Refused)
    assert other.refusal.code == "dealer_differs"
    assert owned.live.state.step == "next"


async def test_the_same_words_again_are_one_opening(owned: Owned) -> None:
    hand = await final_window(owned)
    cards = hand.unread()
    work = RoundWork(c.ConfirmCards("", "", cards), DEALER)
    first = await owned.ask(work, request_id="r-1")
    again = await owned.ask(work, request_id="r-1")
    assert again == repr(first).encode() or again == first
    assert (await owned.names()).count("DealerRevealed") == 1
