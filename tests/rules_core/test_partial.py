"""A bundle for one player: what a house could forge in it, with every hash made anew, and is still found."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from rules_core.canonical import parse_canonical
from rules_core.log.bundle import WITHHOLDABLE_TYPES
from rules_core.log.report import Report
from rules_core.log.verify import verify_bundle
from tests.rules_core.bundles import Json
from tests.rules_core.histories import FOLDER
from tests.rules_core.tampering import digest_of, forged

SHARED, PRIVATE, CORRECTED = "scripted-shared_round", "scripted-private_round", "scripted-corrected_round"
Edit = Callable[[list[Any]], None]


def for_player(name: str, player: str, edit: Edit, hidden: frozenset[str] = frozenset()) -> Report:
    """Verify a history's bundle for a player after an edit; `hidden`: the player's own types withheld too."""
    value = parse_canonical((FOLDER / f"{name}.json").read_bytes())
    assert isinstance(value, dict)
    bundle: Json = copy.deepcopy(value)
    events = [event["content"] for event in bundle["round"]["events"]]
    edit(events)
    bundle["for"] = player
    bundle["round"]["events"] = [_shown_or_not(content, player, hidden) for content in events]
    return verify_bundle(forged(bundle))


def _shown_or_not(content: Json, player: str, hidden: frozenset[str]) -> Json:
    whose = content["payload"].get("player", player)
    if content["type"] in WITHHOLDABLE_TYPES and (whose != player or content["type"] in hidden):
        return {"content_hash": digest_of(content).hex()}
    return {"content": content}


def nothing(_: list[Any]) -> None:
    """Leave everything as it was."""


def first(events: list[Any], kind: str, **payload: object) -> int:
    """Where the first event of a type with these payload values stands."""
    return next(
        index
        for index, event in enumerate(events)
        if event["type"] == kind and all(event["payload"].get(key) == item for key, item in payload.items())
    )


def setting(kind: str, key: str, value: object, **payload: object) -> Edit:
    """Change a payload's field."""

    def edit(events: list[Any]) -> None:
        events[first(events, kind, **payload)]["payload"][key] = value

    return edit


def without(*kinds: str) -> Edit:
    """Leave out all events of these types."""

    def edit(events: list[Any]) -> None:
        events[:] = [event for event in events if event["type"] not in kinds]

    return edit


def inserted(kind: str, payload: Json, *, after: str, actor: str = "system") -> Edit:
    """Put an event behind the first one of a type."""

    def edit(events: list[Any]) -> None:
        index = first(events, after)
        event_id = f"{events[index]['event_id'][:-4]}ffff"
        event = {**events[index], "type": kind, "payload": payload, "actor": actor, "event_id": event_id}
        events.insert(index + 1, event)

    return edit


def by(kind: str, actor: str) -> Edit:
    """Say that the first event of a type is somebody's."""

    def edit(events: list[Any]) -> None:
        events[first(events, kind)]["actor"] = actor

    return edit


def moved(kind: str, *, behind: str) -> Edit:
    """Put the first event of a type behind the first one of another."""

    def edit(events: list[Any]) -> None:
        event = events.pop(first(events, kind))
        events.insert(first(events, behind) + 1, event)

    return edit


def moved_last(kind: str, *, behind: str) -> Edit:
    """Put the last event of a type behind the first one of another."""

    def edit(events: list[Any]) -> None:
        last = max(index for index, event in enumerate(events) if event["type"] == kind)
        event = events.pop(last)
        events.insert(first(events, behind) + 1, event)

    return edit


def recorded(kind: str, instant: str) -> Edit:
    """Say that the first event of a type was recorded at another time."""

    def edit(events: list[Any]) -> None:
        events[first(events, kind)]["recorded_at"] = instant

    return edit


def second_result(events: list[Any]) -> None:
    """Settle the player once more before the round is settled."""
    index = first(events, "PlayerSettled", player="p1")
    again = copy.deepcopy(events[index])
    again["event_id"] = f"{again['event_id'][:-4]}ffff"
    again["payload"]["revision"] = 2
    events.insert(index + 1, again)


OPENED = {"place": "box.2.3", "card": "Ac", "committed": False}
RELAID = {"openings": [OPENED], "final": False}
SCAN = {"scan_id": "forged-1", "source": "shoe"}
FREE_CARD = "Ac"
EARLY = "2026-01-01T12:00:00.000001Z"
CANCELLED = {"reason": "dealer_mistake"}
EXTENDED = {"window": "options", "box": None, "extended_ms": 1, "reason": "floor", "decided_at": EARLY}
FORGERIES: dict[str, Edit] = {
    "betting closed before its time": setting("BettingClosed", "closed_at", EARLY),
    "a box of the table not dealt": setting("BettingClosed", "boxes", [1, 2]),
    "a card laid again": inserted(
        "CardScanned", {**SCAN, "place": "box.2.0", "card": FREE_CARD}, after="OptionsOpened"
    ),
    "a card laid in no place": inserted(
        "CardScanned", {**SCAN, "place": "box.9.0", "card": FREE_CARD}, after="OptionsOpened"
    ),
    "a draw before the purchase": inserted(
        "CardScanned", {**SCAN, "place": "draw.0", "card": FREE_CARD}, after="DealerRevealed"
    ),
    "one draw too many": inserted(
        "CardScanned", {**SCAN, "place": "draw.1", "card": FREE_CARD}, after="DealerRequalified"
    ),
    "a switch card after the fifth": inserted(
        "CardScanned", {**SCAN, "place": "switch.5", "card": FREE_CARD}, after="FinalOptionsOpened"
    ),
    "an open card committed": setting("CardScanned", "card", "Ad", place="dealer.4"),
    "options open for longer": setting("OptionsOpened", "closes_at", "2026-01-01T12:30:00.000000Z"),
    "passed although chosen": setting("OptionsClosed", "passed", [{"box": 2, "players": ["p1"]}]),
    "not asked in the final window": setting("FinalOptionsOpened", "asked", [{"box": 2, "players": ["p3"]}]),
    "never asked for options": without("OptionsOpened", "OptionsClosed"),
    "never asked for final options": without("FinalOptionsOpened", "FinalOptionsClosed"),
    "never offered the purchase": without("PurchaseOffered", "PurchaseClosed"),
    "the dealer's hand under another name": setting("DealerRevealed", "hand", "one_pair"),
    "the dealer's hand opened twice": inserted(
        "DealerRevealed", {"openings": [], "hand": "nothing", "qualified": False}, after="PurchaseClosed"
    ),
    "the dealer's game in another's words": setting("DealerRequalified", "qualified", value=False),
    "a window extended by another time": inserted(
        "WindowExtended", {**EXTENDED, "closes_at": EARLY}, after="OptionsOpened"
    ),
    "cancelled while players are settled": inserted(
        "RoundCancelled", CANCELLED, after="PlayerSettled", actor="staff:s1"
    ),
    "cancelled after the end": inserted("RoundCancelled", CANCELLED, after="RoundSettled", actor="staff:s1"),
    "settled twice": inserted("RoundSettled", {"dealer": {}, "totals": []}, after="RoundSettled"),
    "totals without this player": setting("RoundSettled", "totals", []),
    "the showdown by a player": by("DealerRevealed", "player:p2"),
    "the settlement by a player": by("RoundSettled", "player:p2"),
    "the window opened by a player": by("OptionsOpened", "player:p2"),
    "no one's round": without("RoundOpened"),
    "an open card opened as another": inserted("CardsRevealed", RELAID, after="OptionsClosed"),
    "blind boxes opened too early": moved("CardsRevealed", behind="BettingClosed"),
    "the last openings before the purchase": moved_last("CardsRevealed", behind="DealerRevealed"),
    "no new hand of the dealer though bought": without("DealerRequalified"),
    "the purchase never closed": without("PurchaseClosed"),
    "another box's window closed": setting("OptionsClosed", "box", 2),
    "another box's final window closed": setting("FinalOptionsClosed", "box", 2),
    "recorded before the event before": recorded("DealerRevealed", "2026-01-01T12:00:00.000001Z"),
    "closed later than it was recorded": setting("BettingClosed", "closed_at", "2026-02-01T12:00:00.000000Z"),
    "a second result without a correction": second_result,
    "the hand opened in the window": moved("DealerRevealed", behind="FinalOptionsOpened"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_house_that_forges_a_players_bundle_is_found(name: str) -> None:
    report = for_player(SHARED, "p1", FORGERIES[name])
    assert report.exit_code == 1
    assert report.difference is not None or report.problems


def last_result_left_out(events: list[Any]) -> None:
    """Leave out the player's latest revision, which the refund at the end gave."""
    own = [i for i, e in enumerate(events) if e["type"] == "PlayerSettled" and e["payload"]["player"] == "p1"]
    del events[own[-1]]


CORRECTIONS: dict[str, Edit] = {
    "another number": setting("CorrectionDecided", "number", 7),
    "a reason that is none": setting("CorrectionDecided", "reason", "whatever"),
    "one person alone": setting("CorrectionDecided", "proposer", "staff:manager-2"),
    "recorded by another": by("CorrectionDecided", "staff:manager-9"),
    "a refund kept from the player": last_result_left_out,
    "ended under another number": setting("RoundResettled", "number", 3),
    "more insurance than there can be": setting(
        "CorrectionDecided",
        "choices",
        [{"box": 2, "player": "p1", "insurance": 10**9}],
        reason="dealer_mistake",
    ),
    "a card that lies elsewhere": setting(
        "CorrectionDecided", "cards", [{"place": "box.2.3", "card": "9h"}], reason="wrong_card_read"
    ),
}


@pytest.mark.parametrize("name", CORRECTIONS)
def test_a_forged_correction_of_a_players_round_is_found(name: str) -> None:
    assert for_player(CORRECTED, "p1", CORRECTIONS[name]).exit_code == 1


@pytest.mark.parametrize("name", [SHARED, PRIVATE, CORRECTED])
def test_the_same_bundle_unforged_agrees_and_lists_what_rests_on_others(name: str) -> None:
    report = for_player(name, "p1", nothing)
    assert (report.exit_code, report.problems, report.difference) == (0, [], None)
    assert report.withheld > 0
    assert {item.type for item in report.not_checked} >= {"RoundSettled"}
    assert all("Not checked" in line for line in report.sentences()[-len(report.not_checked) :])


@pytest.mark.parametrize(
    "kind", ["OptionChosen", "FinalOptionChosen", "PurchaseMade", "PlayerSettled", "BetPlaced"]
)
def test_a_players_own_choice_or_result_kept_from_the_player_is_missed(kind: str) -> None:
    assert for_player(SHARED, "p1", nothing, frozenset({kind})).exit_code == 1


@pytest.mark.parametrize(
    ("key", "value"),
    [("amount", 150), ("kind", "fold"), ("positions", [4, 2]), ("arrived_at", "2026-01-01T13:00:00.000000Z")],
)
def test_a_players_own_option_that_is_another_is_found(key: str, value: object) -> None:
    assert for_player(SHARED, "p1", setting("OptionChosen", key, value, player="p1")).exit_code == 1


def test_a_private_boxs_replacement_card_in_another_order_is_found() -> None:
    def swapped(events: list[Any]) -> None:
        scans = [
            e["payload"]
            for e in events
            if e["type"] == "CardScanned" and e["payload"]["place"].startswith("replacement.")
        ]
        scans[0]["place"], scans[-1]["place"] = scans[-1]["place"], scans[0]["place"]

    assert for_player(PRIVATE, "p1", swapped).exit_code == 1
