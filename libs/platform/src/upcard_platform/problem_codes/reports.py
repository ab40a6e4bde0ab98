"""Problems of rounds and reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from upcard_platform.problem_kinds import ProblemKind

CODES: Final[Mapping[str, ProblemKind]] = {
    "round_unknown": ProblemKind(
        404,
        "No such round",
        "none_moved",
        "after_change",
        "There is no round of this name in which a bet of the player's stands: look at both.",
    ),
    "round_unreadable": ProblemKind(
        409,
        "The round cannot be shown",
        "none_moved",
        "never",
        "It was played by rules that this installation does not have any more: ask whoever runs Upcard.",
    ),
    "period_invalid": ProblemKind(
        400,
        "No such period",
        "none_moved",
        "after_change",
        "Say a day, or `since` and a later `until`; at most 32 days, and not what is still to come.",
    ),
    "links_unavailable": ProblemKind(
        409,
        "There are no links to rounds here",
        "none_moved",
        "after_change",
        "Whoever runs Upcard has to set UPCARD_LINK_KEYS first.",
    ),
}
