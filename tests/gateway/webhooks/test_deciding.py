"""What becomes of a webhook that was tried."""

from __future__ import annotations

import pytest

from upcard_gateway.domain.webhooks import Decision, Outcome, Policy, Tried, decide

POLICY = Policy()
H12 = 12 * 3600.0


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_any_2xx_ends_it(status: int) -> None:
    assert decide(Outcome(status), Tried(9, 10 * H12), POLICY) == Decision("delivered")


@pytest.mark.parametrize(
    "outcome", [Outcome(None, "no answer"), *(Outcome(status, "x") for status in (199, 301, 400, 410, 500))]
)
def test_everything_else_is_tried_again_for_12_hours(outcome: Outcome) -> None:
    assert decide(outcome, Tried(0, 0.0), POLICY) == Decision("again", 5.0)
    assert decide(outcome, Tried(99, H12 - 1), POLICY) == Decision("again", 600.0)
    assert decide(outcome, Tried(99, H12), POLICY) == Decision("parked")


def test_pauses_double_up_to_a_bound() -> None:
    pauses = [decide(Outcome(500, "x"), Tried(failures, 1.0), POLICY).pause_s for failures in range(10)]
    assert pauses == [5, 10, 20, 40, 80, 160, 320, 600, 600, 600]
    assert decide(Outcome(500, "x"), Tried(10**6, 1.0), POLICY).pause_s == 600


def test_a_receiver_may_ask_for_a_longer_pause_within_the_bound() -> None:
    assert decide(Outcome(429, "x", 30.0), Tried(0, 0.0), POLICY).pause_s == 30
    assert decide(Outcome(429, "x", 1.0), Tried(2, 1.0), POLICY).pause_s == 20
    assert decide(Outcome(503, "x", 86_400.0), Tried(0, 0.0), POLICY).pause_s == 600


def test_12_hours_of_tries_are_some_80() -> None:
    failures, since_s, tries = 0, 0.0, 0
    while True:
        tries += 1
        decision = decide(Outcome(500, "x"), Tried(failures, since_s), POLICY)
        if decision.what == "parked":
            break
        failures, since_s = failures + 1, since_s + decision.pause_s
    assert since_s >= H12
    assert 70 <= tries <= 90
