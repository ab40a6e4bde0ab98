"""CONTRACTS.md section 2: an event carries every input of its decision, so the command comes back from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rules_core.command_line.random_round import random_round
from rules_core.log.decisions import decisions
from rules_core.log.engines import ENGINES
from rules_core.log.replay import replay
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.command_of import Fact, command_of
from rules_core.round.decide import decide
from rules_core.round.evolve import evolve
from rules_core.round.recording import actor_of
from rules_core.round.sealed import Sealed, SealMissingError
from rules_core.round.state import new_round
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.shipped import shipped, shipped_ids
from tests.rules_core.recorded_rounds import NOTHING, ROUNDS
from tests.rules_core.recording import Recording, Staking, Step, recorded_facts
from tests.rules_core.round.scripted import ante, at

RANDOM_ROUNDS = 20
GAME = "As Kd 8h 5c 3d"
STAFF = ("staff:manager-1", "staff:manager-2")


def without_what_decides_nothing(step: Step) -> c.Command:
    """The command without the inputs that no event records, as `command_of` lists them."""
    command, event = step.command, step.facts[-1].event
    if isinstance(command, (c.ScanCard, c.RescanCard)) and isinstance(
        event, (e.CardScanned, e.CardRescanned)
    ):
        return command if event.commitment else replace(command, card_salt=None)
    if isinstance(command, (c.Settle, c.Resettle)):
        ended = isinstance(event, (e.RoundSettled, e.RoundResettled))
        return replace(command, limit=c.SETTLE_CHUNK_MAX) if ended else command
    if isinstance(event, (e.OptionChosen, e.FinalOptionChosen)) and event.bet_id is None:
        assert isinstance(command, (c.ChooseOption, c.ChooseFinalOption))
        return replace(command, bet_id=None, funds="held")
    if isinstance(event, e.BetDeclined) and event.reason in {"betting_closed", "window_closed"}:
        assert isinstance(command, Staking)
        return replace(command, funds="not_asked")
    return command


def in_one_order(command: c.Command) -> c.Command:
    """The command with its unordered inputs sorted."""
    if isinstance(command, (c.ConfirmCards, c.Proceed, c.CancelRound)):
        return replace(command, manual_cards=tuple(sorted(command.manual_cards)))
    if isinstance(command, c.CloseFinalOptions):
        return replace(command, unfunded=tuple(sorted(command.unfunded)))
    return command


def grouped(facts: Sequence[Fact]) -> list[tuple[Fact, ...]]:
    """The facts of each decision."""
    return [tuple(facts[start:end]) for start, end in decisions([fact.event for fact in facts])]


def check_steps(ruleset: Ruleset, steps: Sequence[Step], sealed: Sealed) -> None:
    """Each command comes back from its facts, and decides the same events by the same actors again."""
    state = new_round(ruleset)
    for step in steps:
        command = command_of(step.facts, sealed)
        assert in_one_order(command) == in_one_order(without_what_decides_nothing(step))
        events = tuple(fact.event for fact in step.facts)
        assert decide(command, state, sealed) == events
        assert [actor_of(command, event) for event in events] == [fact.actor for fact in step.facts]
        for event in events:
            evolve(state, event)


@pytest.mark.parametrize("ruleset", shipped_ids())
def test_the_commands_of_random_rounds_come_back_and_decide_the_same(ruleset: str) -> None:
    for seed in range(RANDOM_ROUNDS):
        table = random_round(shipped(ruleset), seed, 1 + seed % 6)
        groups = grouped(recorded_facts(table))
        steps = [Step(*step) for step in zip(table.commands, groups, strict=True)]
        check_steps(table.ruleset, steps, table.sealed)


@pytest.mark.parametrize("name", ROUNDS)
def test_the_commands_of_mishaps_come_back_and_decide_the_same(name: str) -> None:
    table = ROUNDS[name]()
    assert grouped(table.facts) == [step.facts for step in table.steps]
    check_steps(table.ruleset, table.steps, table.sealed)


def test_every_command_is_among_these_rounds() -> None:
    given = {type(step.command) for play in ROUNDS.values() for step in play().steps}
    assert given == set(c.Command.__args__)


def test_a_command_whose_card_is_not_at_hand_does_not_come_back() -> None:
    table = ROUNDS["shared_round"]()
    (facts,) = [step.facts for step in table.steps if getattr(step.command, "scan_id", "") == "dealer.0"]
    with pytest.raises(SealMissingError):
        command_of(facts, Sealed())


def test_a_scan_by_hand_of_a_hidden_card_needs_no_seal() -> None:
    facts = [Fact(e.CardScanned("dealer.0", "s1", "manual"), "dealer:d1", at(0))]
    assert command_of(facts, Sealed()) == c.ScanCard("s1", None, None, "manual", "dealer:d1")


@pytest.mark.parametrize(
    "reason", ["ante_missing", "hold_answered_late", "funds_refused", "wallet_unavailable", "betting_closed"]
)
def test_a_hold_without_a_stake_is_declined_for_any_reason(reason: str) -> None:
    stakes = (e.DeclinedStake(2, "ante", 100),)
    command = c.DeclineBet("p1", "EUR", "b1", stakes, reason, at(3))
    event = e.BetDeclined("p1", "EUR", "b1", stakes, reason, at(3), "DeclineBet")
    assert command_of([Fact(event, "system", at(4))], Sealed()) == command


# -------------------------------------------------------------------------------------------------- chunks


def passed_by_all(players: int) -> Recording:
    """A shared round that so many players let pass, ready to settle."""
    table = Recording("live-shared@1", {"box.2": NOTHING, "dealer": GAME})
    table.open()
    for number in range(players):
        table.place(f"p{number}", ante(2))
    table.deal()
    table.close_options()
    table.lay()
    table.confirm()
    table.close_finals()
    table.proceed()
    return table


def settle_all(table: Recording, limit: int) -> None:
    """Settle chunk by chunk, or go on with a correction."""
    while table.state.step != "settled":
        table.settle(limit)


def agrees(table: Recording) -> bool:
    """Whether a replay agrees with every event and actor."""
    found = replay(ENGINES[1], table.ruleset, table.facts, table.sealed)
    assert found.difference is None, str(found.difference)
    return found.steps[-1] == len(table.facts)


def lengths_at_the_end(table: Recording, count: int) -> list[int]:
    """How many events the last decisions have."""
    return [len(group) for group in grouped(table.facts)][-count:]


def test_short_chunks_of_a_settlement_replay_as_one() -> None:
    table = passed_by_all(8)
    settle_all(table, 3)
    assert [len(step.facts) for step in table.steps][-3:] == [4, 3, 3]
    assert lengths_at_the_end(table, 1) == [10]
    assert agrees(table)


def test_an_unfinished_settlement_replays_too() -> None:
    table = passed_by_all(4)
    table.settle(3)
    assert command_of(table.steps[-1].facts, table.sealed) == c.Settle(3)
    assert agrees(table)


@pytest.mark.parametrize(("players", "chunks"), [(500, [502]), (501, [501, 2]), (1_001, [501, 500, 2])])
def test_a_chunk_is_never_longer_than_one_can_be(players: int, chunks: list[int]) -> None:
    table = passed_by_all(players)
    settle_all(table, 500)
    assert lengths_at_the_end(table, len(chunks)) == chunks
    assert agrees(table)


@pytest.mark.parametrize("limit", [1, 2, 500])
def test_a_correction_in_chunks_replays(limit: int) -> None:
    table = passed_by_all(5)
    settle_all(table, 500)
    table.do(c.Resettle("wrong_result", *STAFF, refund=True, limit=limit))
    settle_all(table, limit)
    assert lengths_at_the_end(table, 1) == [7]
    assert agrees(table)


def test_a_correction_of_more_players_than_one_chunk_holds_replays() -> None:
    table = passed_by_all(501)
    settle_all(table, 500)
    table.do(c.Resettle("wrong_result", *STAFF, refund=True))
    settle_all(table, 500)
    assert lengths_at_the_end(table, 2) == [501, 2]
    assert agrees(table)


# ------------------------------------------------------------------------------------------------ decisions

FOLDED = e.FinalOptionChosen("p1", 2, "fold", "platform", reason="no_combination")
CHOSEN = e.FinalOptionChosen("p1", 2, "fold", "player", arrived_at=at(1))
UNBOUGHT = e.PurchaseDeclined("p1", 2, "platform")
DECLINED = e.PurchaseDeclined("p1", 2, "player", at(1))
FINALS_CLOSED = e.FinalOptionsClosed(None, at(2))
PURCHASE_CLOSED = e.PurchaseClosed(at(2))
SETTLED = e.PlayerSettled("p1", "EUR", 1, (), 0, 0, 0)
CORRECTED = e.CorrectionDecided(1, "wrong_result", *STAFF, refund=True)
RESETTLED = e.RoundResettled(1, None, ())  # type: ignore[arg-type]  # what it says does not matter here
ENDED = e.RoundSettled(None, ())  # type: ignore[arg-type]  # likewise
SHOWDOWN = e.CardsRevealed((), final=False)
LAST_CARDS = e.CardsRevealed((), final=True)
DEALER_REVEALED = e.DealerRevealed((), "nothing", qualified=False)
CANCELLED = e.RoundCancelled("technical_failure")


@pytest.mark.parametrize(
    ("events", "sizes"),
    [
        ([], []),
        ([CHOSEN, FOLDED, FOLDED, FINALS_CLOSED], [1, 3]),
        ([FINALS_CLOSED, DECLINED, UNBOUGHT, UNBOUGHT, PURCHASE_CLOSED], [1, 1, 3]),
        ([SHOWDOWN, DEALER_REVEALED, LAST_CARDS, SETTLED, SETTLED, ENDED], [2, 4]),
        ([DEALER_REVEALED, SHOWDOWN, LAST_CARDS, SETTLED, ENDED], [2, 3]),
        ([DEALER_REVEALED, LAST_CARDS, SETTLED, ENDED], [1, 3]),
        ([DEALER_REVEALED, SETTLED, ENDED], [1, 2]),
        ([LAST_CARDS, CANCELLED], [2]),
        ([CANCELLED], [1]),
        ([SETTLED, ENDED, CORRECTED, SETTLED, RESETTLED, CORRECTED, RESETTLED], [2, 3, 2]),
    ],
)
def test_events_that_one_command_gave_are_one_decision(events: list[e.RoundEvent], sizes: list[int]) -> None:
    assert [end - start for start, end in decisions(events)] == sizes


@pytest.mark.parametrize(
    ("events", "sizes"),
    [
        ([FOLDED, FOLDED], [1, 1]),
        ([FOLDED, PURCHASE_CLOSED], [1, 1]),
        ([UNBOUGHT, CHOSEN], [1, 1]),
        ([SHOWDOWN], [1]),
        ([SHOWDOWN, CANCELLED], [1, 1]),
        ([LAST_CARDS], [1]),
        ([LAST_CARDS, CHOSEN], [1, 1]),
        ([LAST_CARDS, ENDED], [2]),
        ([DEALER_REVEALED], [1]),
        ([SETTLED], [1]),
        ([None, None], [1, 1]),
        ([FOLDED, None, FINALS_CLOSED], [1, 1, 1]),
        ([LAST_CARDS, SETTLED, None, ENDED], [2, 1, 1]),
    ],
)
def test_events_cut_off_or_withheld_still_make_decisions_without_gaps(
    events: list[e.RoundEvent | None], sizes: list[int]
) -> None:
    assert [end - start for start, end in decisions(events)] == sizes


# --------------------------------------------------------------------------------------------------- actors


@pytest.mark.parametrize(
    ("command", "event", "actor"),
    [
        (c.PlaceBet("p1", "EUR", "b1", (), at(0)), CANCELLED, "player:p1"),
        (c.DeclineBet("p1", "EUR", "b1", (), "late", at(0)), CANCELLED, "system"),
        (c.CloseBetting(at(0)), e.BettingClosed(at(0), (1,)), "system"),
        (c.CloseFinalOptions(at(0)), FOLDED, "platform"),
        (c.CloseFinalOptions(at(0)), FINALS_CLOSED, "system"),
        (c.ChooseFinalOption("p1", 2, "fold", at(1)), CHOSEN, "player:p1"),
        (c.ClosePurchase(at(0)), UNBOUGHT, "platform"),
        (c.ConfirmCards(at(0), "dealer:d1"), DEALER_REVEALED, "system"),
        (c.ScanCard("s1", None, by="dealer:d1"), e.CardScanned("dealer.0", "s1", "manual"), "dealer:d1"),
        (c.BurnCard("s1"), e.CardBurned("s1"), "system"),
        (c.CancelRound("technical_failure", "staff:m1"), LAST_CARDS, "staff:m1"),
        (c.Settle(), SETTLED, "system"),
        (c.Resettle("wrong_result", *STAFF, refund=True), CORRECTED, "staff:manager-2"),
        (c.Resettle("wrong_result", *STAFF, refund=True), SETTLED, "system"),
    ],
)
def test_an_event_is_by_whom_the_contract_says(command: c.Command, event: e.RoundEvent, actor: str) -> None:
    assert actor_of(command, event) == actor
