"""The command behind recorded events: every event carries every input of its decision.

Face-down cards are the exception: they come from `sealed`, which a replay fills from the openings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rules_core.cards import CARD_OF, Card
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide.betting import placements_of
from rules_core.round.sealed import Sealed


@dataclass(frozen=True, slots=True)
class Fact:
    """A recorded event with what its envelope says of it."""

    event: e.RoundEvent
    actor: str
    recorded_at: str


def command_of(facts: Sequence[Fact], sealed: Sealed) -> c.Command:
    """The command that gave these events, all of one decision, in their order.

    Not recorded, since they decide nothing: `bet_id` and `funds` of a choice that stakes nothing, `funds` of
    a late command, the salt of a card that lies face up, the order of `manual_cards` and `unfunded`, chunk
    sizes of a settlement. `at` of a step that opens cards is the envelope's `recorded_at`. Raises
    SealMissingError for a face-down card that `sealed` does not hold.
    """
    last = facts[-1]
    if isinstance(last.event, (e.PlayerSettled, e.RoundSettled, e.RoundResettled)):
        return _settle(facts)
    make = _COMMAND_OF[type(last.event)]
    return make(facts, sealed)


Maker = Callable[[Sequence[Fact], Sealed], c.Command]
_FUNDS: dict[str, c.Funds] = {
    "funds_refused": "refused",
    "wallet_unavailable": "unavailable",
    "hold_answered_late": "held",
}


def _settle(facts: Sequence[Fact]) -> c.Command:
    first = facts[0].event
    count = sum(1 for fact in facts if isinstance(fact.event, e.PlayerSettled))
    ended = isinstance(facts[-1].event, (e.RoundSettled, e.RoundResettled))
    limit = c.SETTLE_CHUNK_MAX if ended else count
    if isinstance(first, e.CorrectionDecided):
        return c.Resettle(
            first.reason,
            first.proposer,
            first.approver,
            first.refund,
            first.cards,
            first.choices,
            limit,
        )
    return c.Settle(limit)


def _open_round(facts: Sequence[Fact], _: Sealed) -> c.Command:
    event: Any = facts[0].event
    return c.OpenRound(
        event.opened_at,
        event.table,
        event.number,
        event.ruleset,
        event.ruleset_sha256,
        event.engine,
        event.limits,
        event.durations,
        event.deck,
        facts[0].actor,
    )


def _bet_placed(facts: Sequence[Fact], _: Sealed) -> c.Command:
    event: Any = facts[0].event
    if event.kind == "double":
        return c.DoubleBets(event.player, event.bet_id, event.arrived_at)
    placements = placements_of(event.stakes)
    make = c.PlaceBet if event.kind == "place" else c.RepeatBets
    return make(event.player, event.currency, event.bet_id, placements, event.arrived_at)


def _bet_declined(facts: Sequence[Fact], _: Sealed) -> c.Command:
    event: Any = facts[0].event
    make = _DECLINED.get(event.command, _decline_bet)
    return make(event, _FUNDS.get(event.reason, "not_asked"))


def _decline_bet(event: e.BetDeclined, _: c.Funds) -> c.Command:
    return c.DeclineBet(
        event.player, event.currency, event.bet_id, event.stakes, event.reason, event.arrived_at
    )


def _declined_placements(event: e.BetDeclined) -> tuple[c.Placement, ...]:
    return placements_of(
        e.Stake(s.box, s.wager, s.amount, s.blind, s.funding)
        for s in event.stakes
        if s.wager in {"ante", "bonus_player", "bonus_dealer"}
    )


def _declined_place(event: e.BetDeclined, funds: c.Funds) -> c.Command:
    placements = _declined_placements(event)
    return c.PlaceBet(event.player, event.currency or "", event.bet_id, placements, event.arrived_at, funds)


def _declined_repeat(event: e.BetDeclined, funds: c.Funds) -> c.Command:
    placements = _declined_placements(event)
    return c.RepeatBets(event.player, event.currency or "", event.bet_id, placements, event.arrived_at, funds)


def _declined_double(event: e.BetDeclined, funds: c.Funds) -> c.Command:
    return c.DoubleBets(event.player, event.bet_id, event.arrived_at, funds)


def _declined_option(event: e.BetDeclined, funds: c.Funds) -> c.Command:
    option = event.option or "bet"
    return c.ChooseOption(
        event.player, event.stakes[0].box, option, event.arrived_at, event.positions, event.bet_id, funds
    )


def _declined_final(event: e.BetDeclined, funds: c.Funds) -> c.Command:
    insurance = sum(stake.amount for stake in event.stakes if stake.wager == "insurance")
    choice = event.choice or "bet"
    return c.ChooseFinalOption(
        event.player, event.stakes[0].box, choice, event.arrived_at, insurance, event.bet_id, funds
    )


def _declined_purchase(event: e.BetDeclined, funds: c.Funds) -> c.Command:
    return c.MakePurchase(event.player, event.stakes[0].box, event.bet_id, event.arrived_at, funds)


_DECLINED: dict[str, Callable[[e.BetDeclined, c.Funds], c.Command]] = {
    "PlaceBet": _declined_place,
    "RepeatBets": _declined_repeat,
    "DoubleBets": _declined_double,
    "ChooseOption": _declined_option,
    "ChooseFinalOption": _declined_final,
    "MakePurchase": _declined_purchase,
}


def _bet_withdrawn(facts: Sequence[Fact], _: Sealed) -> c.Command:
    event: Any = facts[0].event
    if event.kind == "undo":
        return c.UndoBet(event.player, event.arrived_at)
    if event.kind == "clear":
        return c.ClearBets(event.player, event.arrived_at)
    return c.WithdrawBet(event.player, event.stakes[0].box, event.stakes[0].wager, event.arrived_at)


def _window_extended(facts: Sequence[Fact], _: Sealed) -> c.Command:
    event: Any = facts[0].event
    if event.reason == "no_bets":
        return c.CloseBetting(event.decided_at)
    return c.ExtendWindow(event.decided_at, event.extended_ms, event.reason, facts[0].actor)


def _read(event: e.CardScanned | e.CardRescanned, sealed: Sealed) -> tuple[Card | None, str | None]:
    if event.commitment is not None:
        card = sealed.open(event.commitment)
        return card.card, card.salt
    return (CARD_OF.get(event.card) if event.card is not None else None), None


def _card_scanned(facts: Sequence[Fact], sealed: Sealed) -> c.Command:
    event: Any = facts[0].event
    card, salt = _read(event, sealed)
    return c.ScanCard(event.scan_id, card, salt, event.source, facts[0].actor)


def _card_rescanned(facts: Sequence[Fact], sealed: Sealed) -> c.Command:
    event: Any = facts[0].event
    card, salt = _read(event, sealed)
    return c.RescanCard(event.scan_id, event.place, card or CARD_OF["2c"], salt, event.source, facts[0].actor)


def _card_burned(facts: Sequence[Fact], _: Sealed) -> c.Command:
    event: Any = facts[0].event
    card = CARD_OF.get(event.card) if event.card is not None else None
    return c.BurnCard(event.scan_id, card, facts[0].actor)


def _window_opened(facts: Sequence[Fact], _: Sealed) -> c.Command:
    event: Any = facts[0].event
    if event.confirmed_by is None:
        return c.Proceed(event.opened_at)
    return c.ConfirmCards(event.opened_at, event.confirmed_by)


def _manual_cards(facts: Sequence[Fact]) -> tuple[tuple[str, Card], ...]:
    return tuple(
        (opening.place, CARD_OF[opening.card])
        for fact in facts
        if isinstance(fact.event, (e.CardsRevealed, e.DealerRevealed))
        for opening in fact.event.openings
        if not opening.committed and opening.card in CARD_OF
    )


def _showdown(facts: Sequence[Fact], _: Sealed) -> c.Command:
    event: Any = facts[0].event
    manual = _manual_cards(facts)
    if event.confirmed_by is None:
        return c.Proceed(facts[0].recorded_at, manual)
    return c.ConfirmCards(facts[0].recorded_at, event.confirmed_by, manual)


def _requalified(facts: Sequence[Fact], _: Sealed) -> c.Command:
    event: Any = facts[0].event
    return c.ConfirmCards(facts[0].recorded_at, event.confirmed_by or "system")


def _option_chosen(facts: Sequence[Fact], _: Sealed) -> c.Command:
    event: Any = facts[0].event
    return c.ChooseOption(
        event.player, event.box, event.kind, event.arrived_at, event.positions, event.bet_id
    )


def _final_chosen(facts: Sequence[Fact], _: Sealed) -> c.Command:
    event: Any = facts[0].event
    return c.ChooseFinalOption(
        event.player, event.box, event.choice, event.arrived_at or "", event.insurance, event.bet_id
    )


def _finals_closed(facts: Sequence[Fact], _: Sealed) -> c.Command:
    closed: Any = facts[-1].event
    what: dict[str | None, c.Unfunded] = {"bet_not_funded": "refused", "wallet_unavailable": "unavailable"}
    unfunded = tuple(
        (fact.event.box, fact.event.player, what[fact.event.reason])
        for fact in facts
        if isinstance(fact.event, e.FinalOptionChosen) and fact.event.reason in what
    )
    return c.CloseFinalOptions(closed.closed_at, unfunded)


def _purchase_made(facts: Sequence[Fact], _: Sealed) -> c.Command:
    event: Any = facts[0].event
    return c.MakePurchase(event.player, event.box, event.bet_id, event.arrived_at)


def _purchase_declined(facts: Sequence[Fact], _: Sealed) -> c.Command:
    event: Any = facts[0].event
    return c.DeclinePurchase(event.player, event.box, event.arrived_at or "")


def _cancelled(facts: Sequence[Fact], _: Sealed) -> c.Command:
    event: Any = facts[-1].event
    return c.CancelRound(event.reason, facts[-1].actor, _manual_cards(facts))


def _closing(make: Callable[[str], c.Command]) -> Maker:
    def closing(facts: Sequence[Fact], _: Sealed) -> c.Command:
        event: Any = facts[-1].event
        return make(event.closed_at)

    return closing


def _offered(facts: Sequence[Fact], _: Sealed) -> c.Command:
    event: Any = facts[0].event
    return c.Proceed(event.opened_at)


_COMMAND_OF: dict[type[Any], Maker] = {
    e.RoundOpened: _open_round,
    e.BetPlaced: _bet_placed,
    e.BetDeclined: _bet_declined,
    e.BetWithdrawn: _bet_withdrawn,
    e.BettingClosed: _closing(c.CloseBetting),
    e.CardScanned: _card_scanned,
    e.CardRescanned: _card_rescanned,
    e.CardBurned: _card_burned,
    e.CardsRevealed: _showdown,
    e.DealerRevealed: _showdown,
    e.OptionsOpened: _window_opened,
    e.OptionChosen: _option_chosen,
    e.OptionsClosed: _closing(c.CloseOptions),
    e.FinalOptionsOpened: _window_opened,
    e.FinalOptionChosen: _final_chosen,
    e.FinalOptionsClosed: _finals_closed,
    e.WindowExtended: _window_extended,
    e.PurchaseOffered: _offered,
    e.PurchaseMade: _purchase_made,
    e.PurchaseDeclined: _purchase_declined,
    e.PurchaseClosed: _closing(c.ClosePurchase),
    e.DealerRequalified: _requalified,
    e.RoundCancelled: _cancelled,
}
