"""Deciding the settlement, in chunks (RULES.md sections 4.9 and 5; ARCHITECTURE.md, Settling)."""

from __future__ import annotations

from dataclasses import dataclass, field

from rules_core.cards import Card
from rules_core.hands import Evaluation, evaluate
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide.cards import hidden_places, openings_of
from rules_core.round.decide.purchase import purchase_asked
from rules_core.round.hands import HandMemo, bought_cards, card_at, dealer_five, first_five, hand_of
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.sealed import Sealed
from rules_core.round.state import BoxPlay, PlayerSeat, RoundState
from rules_core.settlement.box import settle_box
from rules_core.settlement.dealer import DealerHands, dealer_hands
from rules_core.settlement.model import BoxCase, BoxResult, DealerResult, Final, Line, Option, Wagers

Decision = tuple[e.RoundEvent, ...] | Refusal
REFUNDED = "refunded"
"""Reason of every line of a refund (RULES.md section 4.9)."""


@dataclass(slots=True)
class Settling:
    """What all boxes of one settlement share: the dealer, and hands that many players hold."""

    state: RoundState
    sealed: Sealed
    dealer: DealerHands
    hands: HandMemo = field(default_factory=dict)
    firsts: dict[int, Evaluation] = field(default_factory=dict)

    def first(self, box: int) -> Evaluation:
        """The box's first five, which decide B."""
        found = self.firsts.get(box)
        if found is None:
            found = self.firsts[box] = evaluate(first_five(self.state, self.sealed, box))
        return found


def settling_of(state: RoundState, sealed: Sealed) -> Settling:
    """Ready to settle any box of the round."""
    dealer = dealer_hands(state.ruleset, dealer_five(state, sealed), drawn_cards(state, sealed))
    return Settling(state, sealed, dealer)


def drawn_cards(state: RoundState, sealed: Sealed) -> tuple[Card, ...]:
    """The dealer's draws; none where a correction says that no box bought after all."""
    if state.corrected_choices and not any(
        play.purchase for seat in state.seats.values() for play in seat.ordered()
    ):
        return ()
    return tuple(card_at(state, sealed, f"draw.{i}") for i in range(state.draws))


def box_case(state: RoundState, sealed: Sealed, play: BoxPlay, currency: str) -> BoxCase:
    """What was done in a box, in the words of a settlement case (CONTRACTS.md section 1)."""
    final: Final | None = None
    if not play.blind and play.option != "fold":
        final = "fold" if play.final == "fold" else "bet"
    option = (
        Option("none")
        if play.blind
        else Option(
            play.option or "none",
            play.positions if play.option == "exchange" else (),
            bought_cards(state, sealed, play),
        )
    )
    wagers = Wagers(
        play.ante,
        play.bonus_player,
        play.bonus_dealer,
        play.ante_funding,
        play.bonus_player_funding,
        play.bonus_dealer_funding,
    )
    return BoxCase(
        play.box,
        play.player,
        play.blind,
        first_five(state, sealed, play.box),
        option,
        final,
        play.insurance,
        bool(play.purchase),
        wagers,
        state.limits[currency].max_payout_in(play.box),
    )


def player_results(settling: Settling, seat: PlayerSeat) -> tuple[BoxResult, ...]:
    """The player's boxes, settled, in box order."""
    state, sealed = settling.state, settling.sealed
    results = []
    for play in seat.ordered():
        hand = hand_of(state, sealed, play, settling.hands)
        first = settling.first(play.box) if play.bonus_player else None
        case = box_case(state, sealed, play, seat.currency)
        results.append(settle_box(state.ruleset, settling.dealer, case, hand, first))
    return tuple(results)


def refunded(results: tuple[BoxResult, ...]) -> tuple[BoxResult, ...]:
    """The same boxes with every wager and fee given back."""
    back = []
    for box in results:
        lines = tuple(Line(li.wager, li.stake, li.stake, REFUNDED, None, li.funding) for li in box.lines)
        back.append(
            BoxResult(
                box.box,
                box.player,
                "refunded",
                box.best,
                box.combinations,
                box.odds,
                lines,
                box.staked,
                box.staked,
                0,
            )
        )
    return tuple(back)


def player_settled(seat: PlayerSeat, results: tuple[BoxResult, ...]) -> e.PlayerSettled:
    """The player's next revision."""
    staked = sum(box.staked for box in results)
    returned = sum(box.returned for box in results)
    revision = seat.revision + 1
    return e.PlayerSettled(seat.player, seat.currency, revision, results, staked, returned, returned - staked)


def dealer_result(dealer: DealerHands) -> DealerResult:
    """The dealer's hands as recorded."""
    return DealerResult(
        dealer.first.best, dealer.cards, dealer.final.best, dealer.final.qualifies, dealer.purchased
    )


def totals_after(state: RoundState, settled: list[e.PlayerSettled]) -> tuple[e.CurrencyTotal, ...]:
    """The round's sums once these are recorded, in alphabetical order of currency."""
    sums = {currency: list(total) for currency, total in state.totals.items()}
    for event in settled:
        total = sums.setdefault(event.currency, [0, 0, 0])
        seat = state.seats[event.player]
        if seat.revision:
            total[1] -= sum(box.staked for box in seat.results)
            total[2] -= sum(box.returned for box in seat.results)
        else:
            total[0] += 1
        total[1] += event.staked
        total[2] += event.returned
    return tuple(e.CurrencyTotal(currency, *sums[currency]) for currency in sorted(sums))


def check_limit(limit: int) -> Refusal | None:
    """A chunk is bounded."""
    if 1 <= limit <= c.SETTLE_CHUNK_MAX:
        return None
    return refuse("chunk_out_of_range", f"settle 1 to {c.SETTLE_CHUNK_MAX} players at once", limit=limit)


def settle(command: c.Settle, state: RoundState, sealed: Sealed) -> Decision:
    """The last openings, PlayerSettled for the next players, and RoundSettled with the last of them."""
    found = check_limit(command.limit)
    if found is None:
        found = check_settleable(state, sealed)
    if found is not None:
        return found
    openings: tuple[e.RoundEvent, ...] = ()
    if state.step != "settling":
        revealed = openings_of(state, sealed, hidden_places(state), {})
        if isinstance(revealed, Refusal):
            return revealed
        openings = (e.CardsRevealed(revealed, final=True),) if revealed else ()
    settling = settling_of(state, sealed)
    chunk = state.order[state.settle_index : state.settle_index + command.limit]
    settled = [player_settled(state.seats[p], player_results(settling, state.seats[p])) for p in chunk]
    if state.settle_index + len(chunk) < len(state.order):
        return (*openings, *settled)
    ended = e.RoundSettled(dealer_result(settling.dealer), totals_after(state, settled))
    return (*openings, *settled, ended)


def check_settleable(state: RoundState, sealed: Sealed) -> Refusal | None:
    """Whether everything is decided that the settlement needs."""
    if state.step in {"settling", "decided"}:
        return None
    if state.step == "revealed":
        if not purchase_asked(state, sealed):
            return None
        return refuse("purchase_not_asked", "boxes may buy; open the purchase window first")
    if state.ended:
        return refuse("round_ended", "the round is ended; only a correction can change it")
    return refuse("round_not_decided", f"the round is not decided yet; its step is {state.step}")
