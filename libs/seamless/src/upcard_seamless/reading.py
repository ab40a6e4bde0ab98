"""What an answer means. Never believes more than it has to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue

from upcard_seamless.amounts import from_partner
from upcard_seamless.answers import WHY, Accepted, NotSent, Refused, Unclear, UnclearKind, Verdict
from upcard_seamless.dialects import AnswerRule, Dialect
from upcard_seamless.requests import Request

ANSWER_MAX_BYTES: Final = 64 * 1024
"""A longer answer is not read."""
_DETAIL_MAX: Final = 200
_SHOWN_MAX: Final = 40
_DONE: Final = 200
"""The HTTP status under which something may be done: an answer under it is the partner's own."""
_CONTRADICTS: Final[dict[str, UnclearKind]] = {
    "$player": "wrong_player",
    "$currency": "wrong_currency",
    "$amount": "wrong_amount",
    "$total": "wrong_amount",
}
"""Whatever else an answer repeats says to which call it belongs."""


def verdict_of(dialect: Dialect, request: Request, http: int, data: bytes | None) -> Verdict:
    """What an answer with this HTTP status and body means; `data` is None when it was too long."""
    if http not in dialect.answer.statuses:
        return Unclear(f"HTTP {http}", kind="server_error")
    if data is None:
        return Unclear("the answer is too long")
    try:
        answer: JsonValue = json.loads(data)
    except (ValueError, RecursionError):
        # A page of somebody between us, under a status of failure, is no answer of the partner's.
        return _unread(http, "the answer is no JSON")
    if not isinstance(answer, dict):
        return _unread(http, "the answer is no object")
    if _different(dialect.answer.same, answer, request) is not None:
        if http != _DONE and not any(field in answer for field in dialect.answer.same):
            # Somebody between us may speak JSON too: it says nothing about any call.
            return _unread(http, "the answer does not say to which call")
        return Unclear("the answer is to another call", contradicts=True, kind="wrong_call")
    rule = _rule(dialect, request, http, answer)
    if rule is None:
        shown = _shown(answer.get(dialect.answer.status))
        return _unread(http, f"no {dialect.answer.status} that is known: {shown}")
    return _verdict(dialect, request, rule, answer)


def _verdict(dialect: Dialect, request: Request, rule: AnswerRule, answer: dict[str, JsonValue]) -> Verdict:
    detail = str(answer.get(dialect.answer.detail))[:_DETAIL_MAX]
    if rule.means == "server_error":
        return Unclear(detail, kind="server_error")
    if rule.means not in ("ok", "duplicate"):
        return Refused(WHY[rule.means], detail)
    field = _different(rule.same, answer, request)
    if field is not None:
        kind = _CONTRADICTS.get(rule.same[field], "wrong_call")
        return Unclear(
            f"accepted with another {field}: {_shown(answer.get(field))}", contradicts=True, kind=kind
        )
    said = answer.get(dialect.answer.balance)
    balance = from_partner(dialect.amounts, request.call.currency, said)
    if request.call.kind == "balance" and (balance is None or balance < 0):
        return Unclear(f"no {dialect.answer.balance} that is an amount: {_shown(said)}")
    return Accepted(duplicate=rule.means == "duplicate", balance=balance)


def _rule(dialect: Dialect, request: Request, http: int, answer: dict[str, JsonValue]) -> AnswerRule | None:
    for rule in dialect.answer.meanings:
        if (
            rule.http == http
            and request.call.kind in rule.calls
            and all(_equal(answer.get(name), value) for name, value in rule.where.items())
        ):
            return rule
    return None


def _different(same: dict[str, str], answer: dict[str, JsonValue], request: Request) -> str | None:
    for field, variable in same.items():
        if not _equal(answer.get(field), request.values.get(variable, variable)):
            return field
    return None


def _equal(said: JsonValue, wanted: JsonValue) -> bool:
    return type(said) is type(wanted) and said == wanted  # True is not 1, nor 110.0 110


def _unread(http: int, detail: str) -> Unclear:
    return Unclear(detail, kind="unreadable" if http < 500 else "server_error")


def _shown(said: JsonValue) -> str:
    return str(said)[:_SHOWN_MAX]


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """What the answers to the parts of one call mean for all of it; a bet stops where one is not done.

    Anything unclear makes all of it unclear, and so does a part that was not sent after another was done. A
    refusal after a part that was done is `partly`: what was done has to be undone.
    """
    if not verdicts:
        raise ValueError("a call has parts")
    for one in verdicts:
        if isinstance(one, Unclear):
            return one
    done = [one for one in verdicts if isinstance(one, Accepted)]
    unsent = next((one for one in verdicts if isinstance(one, NotSent)), None)
    if unsent is not None:
        return unsent if len(verdicts) == 1 or not _reached(verdicts) else Unclear(unsent.detail)
    refusals = [one for one in verdicts if isinstance(one, Refused)]
    if not refusals:
        return Accepted(duplicate=all(one.duplicate for one in done), balance=done[-1].balance)
    worst = next((one for one in refusals if one.why != "not_found"), refusals[0])
    return Refused(worst.why, worst.detail, partly=bool(done))


def _reached(verdicts: Sequence[Verdict]) -> bool:
    return any(not isinstance(one, NotSent) for one in verdicts)
