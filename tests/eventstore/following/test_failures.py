"""Which errors are the database's, and which an event's."""

from __future__ import annotations

import asyncpg
import pytest

from eventstore.following.failures import Kind, kind_of, passes

CUT = asyncpg.InternalClientError("cannot switch to state 12; another operation (2) is in progress")


@pytest.mark.parametrize(
    ("error", "lost", "kind"),
    [
        (CUT, False, Kind.LOST),
        (CUT, True, Kind.LOST),
        (asyncpg.InterfaceError("the server expects 2 arguments"), False, Kind.FAULT),
        (asyncpg.InterfaceError("connection is closed"), True, Kind.LOST),
        (asyncpg.DeadlockDetectedError("deadlock"), False, Kind.CLASH),
        (asyncpg.TooManyConnectionsError("sorry"), False, Kind.AWAY),
        (ValueError("no such player"), False, Kind.FAULT),
    ],
)
def test_the_kind_of_an_error(error: Exception, lost: bool, kind: Kind) -> None:  # noqa: FBT001 - from the table
    assert kind_of(error, lost=lost) is kind


def test_a_session_cut_in_the_middle_of_an_answer_passes() -> None:
    assert passes(CUT)
    assert not passes(ValueError("no such player"))
