"""The wallet's side of a dialect: what a request asks for, and how an answer is said; from the same data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from upcard_conformance.reference.book import Answer, Movement, Order, Reason
from upcard_conformance.reference.hearing import BodyUnlike, Bound, heard
from upcard_seamless.amounts import LARGEST, from_partner, to_partner
from upcard_seamless.answers import AnswerKind
from upcard_seamless.calls import CallKind
from upcard_seamless.dialects import AnswerRule, Dialect
from upcard_seamless.signing import Verifier

_MEANS: Final[dict[Reason, AnswerKind]] = {
    "funds": "refused_funds",
    "player": "refused_player",
    "session": "refused_player",
    "unknown": "refused_not_found",
    "currency": "refused_other",
    "undone": "refused_other",
    "differs": "refused_other",
    "other": "refused_other",
}
_HINTS: Final[dict[Reason, str]] = {
    "player": "unknown",
    "session": "session",
    "currency": "currency",
    "undone": "cancel",
    "differs": "reuse",
    "other": "invalid",
}
"""What the code contains where a dialect has several for one meaning."""


class NotUnderstood(Exception):
    """A request that is none of the dialect's: nothing was done."""


class SignatureWrong(Exception):
    """A request whose signature does not fit its body: nothing was done, whatever it says."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A request as it was understood."""

    kind: CallKind
    order: Order
    """Of a `balance` call: one without movements."""
    bound: Bound = field(repr=False)


@dataclass(frozen=True, slots=True)
class Said:
    """An answer as it goes out."""

    status: int
    body: dict[str, JsonValue]

    @property
    def data(self) -> bytes:
        """The body's bytes."""
        return json.dumps(self.body, separators=(",", ":")).encode()


class Speaker:
    """One dialect, as the wallet of one partner hears and speaks it."""

    def __init__(self, dialect: Dialect, verifier: Verifier) -> None:
        """`verifier` has the shared secret, or Upcard's public key."""
        self.dialect = dialect
        self.verifier = verifier
        self.kinds: dict[str, CallKind] = {shape.path: kind for kind, shape in dialect.calls.items()}

    def check(self, headers: Mapping[str, str], body: bytes) -> None:
        """Raises SignatureWrong."""
        said = headers.get(self.dialect.signature.header)
        if said is None or not self.verifier.fits(body, said):
            raise SignatureWrong

    def hear(self, path: str, body: bytes) -> Heard:
        """Understand a request. Raises NotUnderstood."""
        kind = self.kinds.get(path)
        if kind is None:
            raise NotUnderstood(f"no call has the path {path}")
        try:
            value = json.loads(body)
            # Half of a surrogate pair is JSON, and no text that could be kept.
            json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            raise NotUnderstood("the body is no JSON") from None
        try:
            bound, transactions = heard(self.dialect.calls[kind].body, value)
        except BodyUnlike as error:
            raise NotUnderstood(str(error)) from None
        player, currency, round_ = bound.get("$player"), bound.get("$currency"), bound.get("$round")
        if not isinstance(player, str) or not isinstance(currency, str):
            raise NotUnderstood("player and currency are texts")
        if not (round_ is None or isinstance(round_, str)):
            raise NotUnderstood("a round is a text, or null")
        if kind == "balance":
            return Heard(kind, Order("bet", player, currency, None, ()), bound)
        movements = self._movements(kind, currency, bound, transactions)
        if len(transactions) == 1:
            bound = {**bound, **transactions[0]}
        return Heard(kind, Order(kind, player, currency, round_, movements), bound)

    def _movements(
        self, kind: CallKind, currency: str, bound: Bound, transactions: list[Bound]
    ) -> tuple[Movement, ...]:
        movements = tuple(self._movement(kind, currency, one) for one in transactions)
        if not movements or len({one.id for one in movements}) < len(movements):
            raise NotUnderstood("a call has one transaction or more, each once")
        total = sum(one.amount for one in movements)
        if total > LARGEST:
            raise NotUnderstood("no money is so much")
        if bound.get("$total", written := to_partner(self.dialect.amounts, currency, total)) != written:
            raise NotUnderstood("the total is not that of the transactions")
        return movements

    def _movement(self, kind: CallKind, currency: str, bound: Bound) -> Movement:
        name = bound.get("$transaction") if kind == "rollback" else None
        name = name or bound.get("$movement") or bound.get("$transaction")
        said = bound.get("$amount")
        amount = from_partner(self.dialect.amounts, currency, said)
        if not isinstance(name, str) or amount is None or amount < 0:
            raise NotUnderstood("a transaction has an id and an amount that is no less than 0")
        if to_partner(self.dialect.amounts, currency, amount) != said:
            raise NotUnderstood("an amount has no part of a minor unit")
        return Movement(name, amount)

    def say(self, request: Heard, answer: Answer) -> Said:
        """An answer in the dialect's words."""
        meaning = self.meaning_of(request, answer)
        rule = self._rule(request.kind, meaning, answer.reason)
        body: dict[str, JsonValue] = dict(rule.where)
        for name, value in {**self.dialect.answer.same, **rule.same}.items():
            body[name] = self.echo(value, request, answer)
        if answer.reason is not None:
            body.setdefault(self.dialect.answer.detail, answer.reason)
        if answer.balance is not None and self.dialect.answer.balance is not None:
            body[self.dialect.answer.balance] = to_partner(
                self.dialect.amounts, request.order.currency, answer.balance
            )
        return Said(rule.http, body)

    def meaning_of(self, request: Heard, answer: Answer) -> AnswerKind:
        """The word for an answer."""
        if answer.reason is None:
            return self.dialect.repeated if answer.repeated and request.kind != "balance" else "ok"
        if answer.reason == "unknown":
            return self.dialect.unknown_rollback
        return _MEANS[answer.reason]

    def echo(self, value: str, request: Heard, answer: Answer) -> JsonValue:
        """A field that repeats what was sent: as it was written there."""
        if value == "$currency" and answer.currency is not None:
            return answer.currency
        return request.bound.get(value) if value.startswith("$") else value

    def _rule(self, kind: CallKind, meaning: AnswerKind, reason: Reason | None) -> AnswerRule:
        rules = [r for r in self.dialect.answer.meanings if r.means == meaning and kind in r.calls]
        hint = _HINTS.get(reason) if reason is not None else None
        if hint is not None:
            rules.sort(key=lambda rule: hint not in str(rule.where).casefold())
        if not rules:
            raise LookupError(f"the dialect {self.dialect.name} has no word for {meaning} of a {kind}")
        return rules[0]

    def say_wrong(self, status: int, word: str) -> Said:
        """An answer to a request that was not even looked at: wrongly signed, not understood, too many."""
        for rule in self.dialect.answer.meanings:
            if rule.http == status and word in str(rule.where).casefold():
                return Said(status, dict(rule.where))
        return Said(status, {"error": word})
