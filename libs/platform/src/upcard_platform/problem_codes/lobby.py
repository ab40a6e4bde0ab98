"""Problems of the lobby and of free bets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from upcard_platform.problem_kinds import ProblemKind

CODES: Final[Mapping[str, ProblemKind]] = {
    "free_bet_refused": ProblemKind(
        409,
        "The free bet cannot be granted",
        "none_moved",
        "after_change",
        "`reason` says what is wrong with it: change that, and grant it with a new request_id.",
    ),
    "free_bet_unknown": ProblemKind(
        404,
        "No such free bet",
        "none_moved",
        "never",
        "Look at the id: either it was never granted, or to another player.",
    ),
    "table_unknown": ProblemKind(
        404,
        "No such table",
        "none_moved",
        "never",
        "Look at the id: either there is no such table, or it is none of yours.",
    ),
}
