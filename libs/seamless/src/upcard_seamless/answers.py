"""What a partner's answer means: a verdict, and the one word for it in which decisions are written down."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, get_args

AnswerKind = Literal[
    "ok",
    "duplicate",
    "refused_funds",
    "refused_player",
    "refused_not_found",
    "refused_other",
    "not_asked",
    "not_sent",
    "time_out",
    "server_error",
    "unreadable",
    "wrong_call",
    "wrong_player",
    "wrong_currency",
    "wrong_amount",
    "late",
]
"""Every answer that there is; `decisions` says for each call what follows. In words: `ANSWERS`."""

ANSWERS: Final[dict[AnswerKind, str]] = {
    "ok": "done, everything as it was sent",
    "duplicate": "a code of its own that says: done before, by an earlier try",
    "refused_funds": "refused: the player has too little",
    "refused_player": "refused: not this player (blocked, unknown, limits, session)",
    "refused_not_found": "refused: no such transaction",
    "refused_other": "refused for another reason",
    "not_asked": "not asked: the partner's circuit is open",
    "not_sent": "no connection could be made: certainly not received",
    "time_out": "no answer in time",
    "server_error": "5xx, or another status that the dialect does not read; a code that says: try later",
    "unreadable": "a broken connection, no JSON, too long, no meaning that is known",
    "wrong_call": "done, it says, but another call",
    "wrong_player": "done, it says, but for another player",
    "wrong_currency": "done, it says, but in another currency",
    "wrong_amount": "done, it says, but another amount",
    "late": "done, but only after we had given it up",
}

Why = Literal["funds", "player", "not_found", "other"]
UnclearKind = Literal[
    "time_out", "server_error", "unreadable", "wrong_call", "wrong_player", "wrong_currency", "wrong_amount"
]
CONTRADICTING: Final[frozenset[AnswerKind]] = frozenset(
    ("wrong_call", "wrong_player", "wrong_currency", "wrong_amount")
)
"""Well-formed answers about something else than was asked."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """It is done, now or by an earlier try, for exactly the amounts that were sent."""

    duplicate: bool = False
    """The partner has said, with a code of its own, that an earlier try had done it."""
    balance: int | None = field(default=None, compare=False)
    """What the player has now, in minor units, where the partner says so."""

    @property
    def answer(self) -> AnswerKind:
        """The one word for it."""
        return "duplicate" if self.duplicate else "ok"


@dataclass(frozen=True, slots=True)
class Refused:
    """It is certain that nothing was done, and trying again will not help."""

    why: Why
    """`not_found`: of a rollback: the partner has no such transaction, and will not take it any more."""
    detail: str = ""
    partly: bool = field(default=False, compare=False)
    """Of a call that was sent transaction by transaction: an earlier one was done, and has to be undone."""

    @property
    def answer(self) -> AnswerKind:
        """The one word for it."""
        return _REFUSED[self.why]


@dataclass(frozen=True, slots=True)
class NotSent:
    """It is certain that the partner never got it."""

    detail: str = ""
    answer: AnswerKind = field(default="not_sent", compare=False)


@dataclass(frozen=True, slots=True)
class Unclear:
    """It may be done or not."""

    detail: str = ""
    contradicts: bool = False
    """The answer was well-formed but is about something else than was asked: another id, amount, currency."""
    kind: UnclearKind = field(default="unreadable", compare=False)

    @property
    def answer(self) -> AnswerKind:
        """The one word for it; one that contradicts without saying how counts as `wrong_amount`."""
        if self.contradicts and self.kind not in CONTRADICTING:
            return "wrong_amount"
        return self.kind


Verdict = Accepted | Refused | NotSent | Unclear

_REFUSED: Final[dict[Why, AnswerKind]] = {
    "funds": "refused_funds",
    "player": "refused_player",
    "not_found": "refused_not_found",
    "other": "refused_other",
}
WHY: Final[dict[str, Why]] = {answer: why for why, answer in _REFUSED.items()}
"""Why it is refused, by the word for the answer."""

assert set(ANSWERS) == set(get_args(AnswerKind))  # noqa: S101 - a table of this module that lacks a word
