"""Old versions of a payload are brought up to the present one, and newer ones refused."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from eventstore.upcasting import (
    EventIsNewer,
    Payload,
    UnknownEventType,
    Upcast,
    Upcasters,
    UpcastersIncomplete,
)


def amount_in_minor_units(payload: Payload) -> Payload:
    return {**payload, "amount": payload["amount"] * 100}


def with_currency(payload: Payload) -> Payload:
    return {**payload, "currency": "EUR"}


STEPS = [Upcast("BetPlaced", 2, with_currency), Upcast("BetPlaced", 1, amount_in_minor_units)]
UPCASTERS = Upcasters({"BetPlaced": 3, "RoundOpened": 1}, STEPS)


@pytest.mark.parametrize(
    ("version", "payload", "expected"),
    [
        (1, {"amount": 5}, {"amount": 500, "currency": "EUR"}),
        (2, {"amount": 5}, {"amount": 5, "currency": "EUR"}),
        (3, {"amount": 5}, {"amount": 5}),
    ],
)
def test_each_version_is_brought_up_by_the_steps_from_there(
    version: int, payload: Payload, expected: Payload
) -> None:
    assert UPCASTERS.upcast("BetPlaced", version, MappingProxyType(dict(payload))) == expected


def test_a_present_payload_is_given_back_as_it_is() -> None:
    payload = {"amount": 5}
    assert UPCASTERS.upcast("BetPlaced", 3, payload) is payload
    assert UPCASTERS.upcast("RoundOpened", 1, payload) is payload


def test_a_newer_version_says_what_to_do() -> None:
    with pytest.raises(
        EventIsNewer, match=r"BetPlaced has version 4, .* up to version 3: upgrade"
    ) as refused:
        UPCASTERS.upcast("BetPlaced", 4, {})
    assert (refused.value.type, refused.value.version, refused.value.known) == ("BetPlaced", 4, 3)


@pytest.mark.parametrize(("event_type", "version"), [("Other", 1), ("BetPlaced", 0), ("BetPlaced", -1)])
def test_what_is_not_known_at_all(event_type: str, version: int) -> None:
    with pytest.raises(UnknownEventType):
        UPCASTERS.upcast(event_type, version, {})


@pytest.mark.parametrize(
    ("present", "steps", "message"),
    [
        ({"A": 3}, [Upcast("A", 1, dict)], "A: no step from version 2"),
        ({"A": 3}, [Upcast("A", 2, dict)], "A: no step from version 1"),
        ({"A": 2}, [], "A: no step from version 1"),
        ({"A": 2}, [Upcast("A", 1, dict), Upcast("A", 1, dict)], "A: two steps from version 1"),
        ({"A": 2}, [Upcast("A", 1, dict), Upcast("A", 2, dict)], "A: a step from version 2, and the present"),
        ({"A": 1}, [Upcast("B", 1, dict)], "B: a step from version 1, and no present version"),
        ({"A": 0}, [], "A: version 0 is below 1"),
        ({"A": 2, "B": 2}, [], "A: no step from version 1; B: no step from version 1"),
    ],
)
def test_a_chain_with_a_hole_is_found_when_it_is_made(
    present: dict[str, int], steps: list[Upcast], message: str
) -> None:
    with pytest.raises(UpcastersIncomplete, match=message):
        Upcasters(present, steps)


def test_what_a_step_raises_is_not_hidden() -> None:
    with pytest.raises(KeyError):
        UPCASTERS.upcast("BetPlaced", 1, {})


def test_what_is_handed_in_afterwards_changes_nothing() -> None:
    present = {"A": 1}
    upcasters = Upcasters(present)
    present["A"] = 9
    dict(upcasters.present)["A"] = 9
    assert upcasters.present == {"A": 1}
