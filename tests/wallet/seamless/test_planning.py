"""What is told to partners, decided without a database: sums, ids and pauses."""

from __future__ import annotations

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from upcard_wallet.adapters.seamless import ids
from upcard_wallet.adapters.seamless.partner import Accepted, NotSent, Refused, Unclear, Verdict
from upcard_wallet.adapters.seamless.planning import (
    Entry,
    Tried,
    Win,
    decide,
    entries_of_freed,
    entries_of_revision,
    pause_s,
)
from upcard_wallet.adapters.seamless.settings import PartnerSettings
from upcard_wallet.app.purse import AccountRef, FreedHold, SettledPlayer

ACCOUNT = AccountRef("a1", "p1", "op1", "EUR", "seamless")
SETTINGS = PartnerSettings()
NEW = Tried(failures=0, failing_for_s=0.0, contradictions=0, unposted_bet=False, confirming=False)


def revised(amounts: list[int]) -> list[list[Entry]]:
    """The entries of each revision that pays these amounts."""
    standing: list[Win] = []
    return [
        entries_of_revision(
            SettledPlayer(ACCOUNT, "t1.1", revision, paid, UUID(int=revision)), standing, first=revision == 1
        )
        for revision, paid in enumerate(amounts, start=1)
    ]


def change(entry: Entry) -> int:
    """What an entry changes at the partner."""
    total = sum(one.amount for one in entry.transactions)
    return total if entry.kind == "win" else -total


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=12))
def test_after_each_revision_the_partner_has_paid_what_it_pays(amounts: list[int]) -> None:
    paid = 0
    for entries, wanted in zip(revised(amounts), amounts, strict=True):
        paid += sum(map(change, entries))
        assert paid == wanted


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=12))
def test_only_a_fall_takes_anything_back_and_nothing_twice(amounts: list[int]) -> None:
    undone: set[UUID] = set()
    won: set[UUID] = set()
    before = 0
    for entries, wanted in zip(revised(amounts), amounts, strict=True):
        assert wanted < before or all(entry.kind == "win" for entry in entries)
        for entry in entries:
            (transaction,) = entry.transactions
            if entry.kind == "win":
                assert transaction.id not in won
                won.add(transaction.id)
            else:
                assert transaction.id in won - undone
                undone.add(transaction.id)
        before = wanted


def test_the_first_revision_closes_the_round_even_with_nothing() -> None:
    (first,), second, (third,) = revised([0, 0, 5])
    assert (first.kind, change(first), first.closes_round) == ("win", 0, True)
    assert second == []
    assert (change(third), third.closes_round) == (5, False)


def test_freed_holds_are_one_rollback_a_command_and_free_bets_are_not_told() -> None:
    def freed(number: int, bet_id: str, funding: str | None = None) -> FreedHold:
        return FreedHold(ACCOUNT, "t1.1", bet_id, UUID(int=number), 10, funding, "held")

    entries = entries_of_freed(
        [freed(1, "b1"), freed(2, "b2"), freed(3, "b1"), freed(4, "b1", "f1"), freed(5, "b3", "f1")]
    )
    assert [[one.id.int for one in entry.transactions] for entry in entries] == [[1, 3], [2]]
    assert all(entry.posted and entry.undoes == "bet" for entry in entries)


@given(st.permutations([UUID(int=1), UUID(int=2), UUID(int=3)]))
def test_a_rollbacks_id_does_not_depend_on_the_order(undone: list[UUID]) -> None:
    assert ids.rollback_call(undone) == ids.rollback_call([UUID(int=1), UUID(int=2), UUID(int=3)])


def test_ids_stay_as_they_are() -> None:
    assert str(ids.lane_of_round("a1", "t1.1")) == "2a3752d6-082b-51a4-9ae9-1ef33b942e8b"
    assert str(ids.bet_call("a1", "t1.1", "b1")) == "2bde1b47-5985-551d-9f3e-90e1b0863cd7"
    assert str(ids.win_of_revision("a1", "t1.1", 1)) == "28657601-76d0-580c-8b61-1d7b528c5636"
    assert str(ids.win_of_credit("a1", "jackpot/j1")) == "5d23ed62-167d-54fb-a533-f3085fc4fee4"
    assert str(ids.rollback_call([UUID(int=1)])) == "7e640101-a2ab-570b-87e5-7f35f02e3aca"


def what(verdict: Verdict, tried: Tried = NEW) -> tuple[str, str | None]:
    decision = decide(verdict, tried, SETTINGS)
    return decision.what, decision.reason


def test_an_answer_ends_a_call_or_has_it_tried_again() -> None:
    assert what(Accepted()) == ("done", None)
    assert what(Refused("funds")) == ("parked", "refused_funds")
    assert what(Refused("not_found")) == ("parked", "refused_not_found")
    assert what(NotSent()) == what(Unclear()) == what(Unclear(contradicts=True)) == ("again", None)


def test_a_bet_that_the_partner_does_not_know_is_rolled_back_twice_to_be_sure() -> None:
    unknown = Tried(0, 0.0, 0, unposted_bet=True, confirming=False)
    first = decide(Refused("not_found"), unknown, SETTINGS)
    assert (first.what, first.confirming, first.pause_s, first.failed) == ("again", True, 60.0, False)
    assert what(Refused("not_found"), Tried(0, 0.0, 0, unposted_bet=True, confirming=True)) == (
        "done",
        "not_found",
    )


def test_a_call_is_parked_only_after_twelve_hours() -> None:
    failing = [Tried(40, hours * 3600.0, 0, unposted_bet=False, confirming=False) for hours in (11.9, 12.0)]
    assert [what(Unclear(), tried)[0] for tried in failing] == ["again", "parked"]
    assert what(Unclear(contradicts=True), Tried(4, 9.0, 4, unposted_bet=False, confirming=False)) == (
        "parked",
        "contradicted",
    )


def test_pauses_grow_to_ten_minutes() -> None:
    assert [pause_s(failures, SETTINGS) for failures in (0, 1, 2, 9, 10, 10_000)] == [1, 2, 4, 512, 600, 600]
