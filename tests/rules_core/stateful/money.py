"""The books of a round, kept from its events alone: what was staked on what, and what came back.

Nothing here asks `rules_core` to decide: a settlement is compared with the slow one of `tests.oracle`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from rules_core.cards import card_text
from rules_core.round import events as e
from rules_core.round.limits import CurrencyLimits
from rules_core.round.state import RoundState
from rules_core.settlement.model import BoxResult
from tests.oracle.settlement import settle_slow, why_broken
from tests.rules_core.stateful.houses import House

Json = dict[str, Any]
DECLINED_FOR = {"betting_closed", "window_closed", "funds_refused", "wallet_unavailable"}
Hold = tuple[str, str, int, str]
"""Player, bet id, box, wager: what one hold covers (ARCHITECTURE.md, Hold before stake)."""


@dataclass
class BoxBook:
    """What one player staked and chose in one box."""

    player: str
    box: int
    blind: bool
    currency: str
    stakes: Counter[str] = field(default_factory=Counter)
    funding: dict[str, str | None] = field(default_factory=dict)
    option: str = "none"
    positions: tuple[int, ...] = ()
    final: str | None = None

    @property
    def ante(self) -> int:
        """The box's ante, minor units."""
        return self.stakes["ante"]

    def due(self) -> dict[str, int]:
        """What these choices cost, by wager (RULES.md sections 4 and 5)."""
        ante = self.ante
        folded = "fold" in (self.option, self.final)
        due = {
            "ante": ante,
            "bet": 0 if folded else 2 * ante,
            "option_fee": ante if self.option in {"sixth", "exchange"} else 0,
            "insurance": self.stakes["insurance"],
            "purchase_fee": ante if self.stakes["purchase_fee"] else 0,
            "bonus_player": self.stakes["bonus_player"],
            "bonus_dealer": self.stakes["bonus_dealer"],
        }
        return {wager: amount for wager, amount in due.items() if amount}

    def corrected(self, fix: e.ChoiceCorrection) -> BoxBook:
        """The same box as a correction says that it was played."""
        stakes, option, positions, final = Counter(self.stakes), self.option, self.positions, self.final
        if fix.option is not None:
            option, positions = fix.option, fix.positions
            final = None if fix.option in {"fold", "bet"} else final
        final = final if fix.final is None else fix.final
        if fix.insurance is not None:
            stakes["insurance"] = fix.insurance
        if fix.purchase is not None:
            stakes["purchase_fee"] = self.ante if fix.purchase else 0
        return replace(self, stakes=stakes, option=option, positions=positions, final=final)

    def as_case(self, cards: dict[str, str], *, shared: bool, cap: int | None) -> Json:
        """The box in the words of CONTRACTS.md section 1."""
        bought = {"sixth": 1, "exchange": len(self.positions)}.get(self.option, 0)
        group = "switch" if shared else f"replacement.{self.box}"
        option: Json = {"kind": self.option}
        if bought:
            option["cards"] = [cards[f"{group}.{index}"] for index in range(bought)]
        if self.option == "exchange":
            option["positions"] = list(self.positions)
        final = "fold" if self.final == "fold" else "bet"
        wagers = ("ante", "bonus_player", "bonus_dealer")
        return {
            "box": self.box,
            "player": self.player,
            "blind": self.blind,
            "cards": [cards[f"box.{self.box}.{index}"] for index in range(5)],
            "option": option,
            "final": None if self.blind or self.option == "fold" else final,
            "insurance": self.stakes["insurance"],
            "purchase": bool(self.stakes["purchase_fee"]),
            "wagers": {
                wager: {"stake": self.stakes[wager], "funding": self.funding[wager]}
                for wager in wagers
                if self.stakes[wager]
            },
            "max_payout": cap,
        }


class Books:
    """All money of one round. Raises AssertionError at the first event that does not balance."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.limits: dict[str, CurrencyLimits] = {}
        self.boxes: dict[tuple[str, int], BoxBook] = {}
        self.holds: dict[Hold, int] = {}
        self.bet_ids: set[str] = set()
        self.declined: Counter[str] = Counter()
        self.cards: dict[str, str] = {}
        self.settled: dict[str, e.PlayerSettled] = {}
        self.choices: list[e.ChoiceCorrection] = []
        self.refund = False

    def record(self, event: e.RoundEvent) -> None:  # noqa: C901 - one case for each kind of event
        """Take an event in."""
        match event:
            case e.RoundOpened():
                self.limits = {limits.currency: limits for limits in event.limits}
            case e.BetPlaced():
                self._placed(event)
            case e.BetWithdrawn():
                self._withdrawn(event)
            case e.BetDeclined():
                self._declined(event)
            case e.OptionChosen() | e.FinalOptionChosen() | e.PurchaseMade():
                self._chosen(event)
            case e.CardScanned() | e.CardRescanned():
                if event.card is not None:
                    self.cards[event.place] = event.card
            case e.CardsRevealed() | e.DealerRevealed():
                self.cards.update({o.place: o.card for o in event.openings if not o.superseded})
            case e.PlayerSettled() | e.CorrectionDecided() | e.RoundSettled() | e.RoundResettled():
                self._ending(event)
            case e.RoundCancelled():
                assert not self.settled
            case _:
                pass

    def _new_bet_id(self, bet_id: str) -> None:
        assert bet_id not in self.bet_ids, "one bet id, two fates"
        self.bet_ids.add(bet_id)

    def _declined(self, event: e.BetDeclined) -> None:
        """At most 20 late bets and refused wagers of a player are recorded (ARCHITECTURE.md, Refusals)."""
        self._new_bet_id(event.bet_id)
        if event.command != "DeclineBet" and event.reason != "hold_answered_late":
            assert event.reason in DECLINED_FOR
            self.declined[event.player] += 1
            assert self.declined[event.player] <= 20

    def _placed(self, event: e.BetPlaced) -> None:
        self._new_bet_id(event.bet_id)
        if event.kind == "double":
            assert {(s.box, s.wager): s.amount for s in event.stakes} == self.doubled(event.player)
        for stake in event.stakes:
            assert stake.amount > 0
            hold = (event.player, event.bet_id, stake.box, stake.wager)
            assert hold not in self.holds, "two stakes under one hold"
            self.holds[hold] = stake.amount
            key = event.player, stake.box
            book = self.boxes.setdefault(key, BoxBook(*key, stake.blind, event.currency))
            assert (book.blind, book.currency) == (stake.blind, event.currency)
            book.stakes[stake.wager] += stake.amount
            book.funding[stake.wager] = stake.funding
        self._check_before_the_deal(event.player)

    def doubled(self, player: str) -> dict[tuple[int, str], int]:
        """What a double adds: as much as there is, fixed wagers left out (RULES.md section 4.1)."""
        found: dict[tuple[int, str], int] = {}
        for book in (book for book in self.boxes.values() if book.player == player):
            limits = self.limits[book.currency]
            allowed = {
                "ante": limits.ante_in(book.box),
                "bet": limits.ante_in(book.box),
                "bonus_player": limits.bonus_player,
                "bonus_dealer": limits.bonus_dealer,
            }
            for wager, bounds in allowed.items():
                amount = book.stakes[wager]
                if amount and bounds is not None and not bounds.fixed:
                    found[book.box, wager] = amount
        return found

    def check_taken_back(self, event: e.BetWithdrawn) -> None:
        """Holds go back whole, and just those that are meant (ARCHITECTURE.md, Hold before stake)."""
        back = {(event.player, stake.bet_id, stake.box, stake.wager): stake.amount for stake in event.stakes}
        assert len(back) == len(event.stakes)
        assert back == {hold: self.holds[hold] for hold in self._taken_back(event)}

    def _taken_back(self, event: e.BetWithdrawn) -> list[Hold]:
        """Which holds are meant: all of the latest placement, of a wager or box, or of the player."""
        own = [hold for hold in self.holds if hold[0] == event.player]
        if event.kind == "undo":
            return [hold for hold in own if hold[1] == own[-1][1]]
        if event.kind == "clear":
            return own
        named = event.stakes[0]
        wagers = {named.wager} if named.wager != "ante" else {"ante", "bet", "bonus_player", "bonus_dealer"}
        return [hold for hold in own if hold[2] == named.box and hold[3] in wagers]

    def _withdrawn(self, event: e.BetWithdrawn) -> None:
        self.check_taken_back(event)
        for stake in event.stakes:
            del self.holds[event.player, stake.bet_id, stake.box, stake.wager]
            self.boxes[event.player, stake.box].stakes[stake.wager] -= stake.amount
        for key in [key for key, book in self.boxes.items() if not book.ante]:
            assert not any(self.boxes[key].stakes.values()), "an ante takes its bet, B and D with it"
            del self.boxes[key]
        self._check_before_the_deal(event.player)

    def _check_before_the_deal(self, player: str) -> None:
        """RULES.md section 4.1: limits of each total; a blind box stakes ante and bet together."""
        total = 0
        for book in (book for book in self.boxes.values() if book.player == player):
            limits = self.limits[book.currency]
            assert book.stakes["bet"] == (2 * book.ante if book.blind else 0)
            assert limits.ante_in(book.box).min <= book.ante <= limits.ante_in(book.box).max
            for wager in ("ante", "bonus_player", "bonus_dealer"):
                assert book.stakes[wager] % limits.chip == 0
            for wager, allowed in (
                ("bonus_player", limits.bonus_player),
                ("bonus_dealer", limits.bonus_dealer),
            ):
                amount = book.stakes[wager]
                assert not amount or (allowed is not None and allowed.min <= amount <= allowed.max)
            total += sum(book.stakes.values())
            assert limits.player_total_max is None or total <= limits.player_total_max

    def _chosen(self, event: e.OptionChosen | e.FinalOptionChosen | e.PurchaseMade) -> None:
        book = self.boxes[event.player, event.box]
        if isinstance(event, e.OptionChosen):
            book.option, book.positions = event.kind, event.positions
            staked = {"bet" if event.kind == "bet" else "option_fee": event.amount}
        elif isinstance(event, e.FinalOptionChosen):
            book.final = event.choice
            staked = {"bet": event.bet, "insurance": event.insurance}
        else:
            staked = {"purchase_fee": event.fee}
        own_choice = getattr(event, "by", "player") == "player"
        assert (event.bet_id is not None) == (own_choice and any(staked.values()))
        if event.bet_id is not None:
            self._new_bet_id(event.bet_id)
        for wager, amount in staked.items():
            assert amount >= 0
            book.stakes[wager] += amount
        assert {wager: amount for wager, amount in book.stakes.items() if amount} == book.due() or (
            isinstance(event, e.OptionChosen) and event.kind != "fold"
        )

    def agree_with(self, state: RoundState) -> None:
        """The state knows the same stakes, for each player, box and wager."""
        found = {
            (seat.player, play.box): {
                "ante": play.ante,
                "bet": play.bet,
                "option_fee": play.fee,
                "insurance": play.insurance,
                "purchase_fee": play.ante if play.purchase else 0,
                "bonus_player": play.bonus_player,
                "bonus_dealer": play.bonus_dealer,
            }
            for seat in state.seats.values()
            for play in seat.plays.values()
        }
        assert {key: {w: a for w, a in stakes.items() if a} for key, stakes in found.items()} == {
            key: {w: a for w, a in book.stakes.items() if a} for key, book in self.boxes.items()
        }
        assert all(play.staked == sum(found[p, play.box].values()) for p, play in _plays(state))

    def corrected_boxes(self) -> list[BoxBook]:
        """Every box as it was really played, by player and box."""
        books = dict(self.boxes)
        for fix in self.choices:
            books[fix.player, fix.box] = books[fix.player, fix.box].corrected(fix)
        return [books[key] for key in sorted(books)]

    def _ending(
        self, event: e.PlayerSettled | e.CorrectionDecided | e.RoundSettled | e.RoundResettled
    ) -> None:
        if isinstance(event, e.CorrectionDecided):
            self.cards.update({fix.place: fix.card for fix in event.cards})
            self.choices.extend(event.choices)
            self.refund = event.refund
            return
        if isinstance(event, e.PlayerSettled):
            self._settled(event)
            return
        self._check_totals(event.totals)
        self._check_with_oracle(event)

    def _settled(self, event: e.PlayerSettled) -> None:
        before = self.settled.get(event.player)
        assert event.revision == (1 if before is None else before.revision + 1)
        assert before is None or _lines(before) != _lines(event), "a revision that changes nothing"
        self.settled[event.player] = event
        own = [book for book in self.corrected_boxes() if book.player == event.player]
        assert [(result.player, result.box) for result in event.boxes] == [(b.player, b.box) for b in own]
        for book, result in zip(own, event.boxes, strict=True):
            assert event.currency == book.currency
            assert {line.wager: line.stake for line in result.lines} == book.due()
            if before is None:
                assert book.due() == {w: amount for w, amount in book.stakes.items() if amount}
            self._check_lines(book, result)
        assert event.staked == sum(result.staked for result in event.boxes)
        assert event.returned == sum(result.returned for result in event.boxes)
        assert event.net == event.returned - event.staked

    def _check_lines(self, book: BoxBook, result: BoxResult) -> None:
        assert len({line.wager for line in result.lines}) == len(result.lines)
        for line in result.lines:
            assert line.returned >= 0
            assert line.funding == book.funding.get(line.wager)
            assert not self.refund or line.returned == line.stake
        assert result.staked == sum(line.stake for line in result.lines)
        assert result.returned == sum(line.returned for line in result.lines)
        assert result.net == result.returned - result.staked

    def _check_totals(self, totals: tuple[e.CurrencyTotal, ...]) -> None:
        assert set(self.settled) == {player for player, _ in self.boxes}
        sums: dict[str, list[int]] = {}
        for event in self.settled.values():
            sums.setdefault(event.currency, [0, 0, 0])
            for index, amount in enumerate((1, event.staked, event.returned)):
                sums[event.currency][index] += amount
        assert [(t.currency, [t.players, t.staked, t.returned]) for t in totals] == sorted(sums.items())

    def _check_with_oracle(self, event: e.RoundSettled | e.RoundResettled) -> None:
        case = self.case()
        slow = settle_slow(case, self.house.rules)
        assert "error" not in slow, why_broken(case, self.house.rules)
        dealer = event.dealer
        assert slow["dealer"] == {
            "first": dealer.first,
            "final_cards": [card_text(card) for card in dealer.final_cards],
            "final": dealer.final,
            "qualified": dealer.qualified,
            "purchased": dealer.purchased,
        }
        if self.refund:
            return
        expected = {
            (box["player"], box["box"]): [(li["wager"], li["stake"], li["returned"]) for li in box["lines"]]
            for box in slow["boxes"]
        }
        results = [result for settled in self.settled.values() for result in settled.boxes]
        found = {
            (result.player, result.box): [(li.wager, li.stake, li.returned) for li in result.lines]
            for result in results
        }
        assert found == expected

    def case(self) -> Json:
        """The round as a settlement case (CONTRACTS.md section 1)."""
        ruleset, boxes = self.house.ruleset, self.corrected_boxes()
        bought = any(book.stakes["purchase_fee"] for book in boxes)
        draws = sorted(place for place in self.cards if bought and place.startswith("draw."))
        return {
            "ruleset": ruleset.id,
            "max_payout": None,
            "dealer": {
                "cards": [self.cards[f"dealer.{index}"] for index in range(5)],
                "draws": [self.cards[place] for place in draws],
            },
            "boxes": [
                book.as_case(
                    self.cards,
                    shared=ruleset.shared,
                    cap=self.limits[book.currency].max_payout_in(book.box),
                )
                for book in boxes
            ],
        }


def _lines(event: e.PlayerSettled) -> list[object]:
    return [box.lines for box in event.boxes]


def _plays(state: RoundState) -> list[tuple[str, Any]]:
    return [(seat.player, play) for seat in state.seats.values() for play in seat.plays.values()]
