"""Dialects: how a partner's wallet is spoken to, as data. A new partner is a new file, not new code.

A body is written as it will look, with variables in the places of its values:

`$network` (the id of this request, new in each try), `$call` (the business id of the call), `$operator`,
`$player`, `$currency`, `$round`, `$closes_round`, `$total`; and of a transaction `$transaction` (a bet's or
win's own id; of a rollback the id of what is undone), `$movement` (as `$transaction`, but of a rollback an id
of its own) and `$amount`. A list with one item that mentions a transaction is repeated for each of them.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from upcard_seamless.answers import AnswerKind
from upcard_seamless.calls import CallKind
from upcard_seamless.currencies import MOST_DIGITS

OF_CALL: Final = frozenset(
    ("$network", "$call", "$operator", "$player", "$currency", "$round", "$closes_round", "$total")
)
OF_TRANSACTION: Final = frozenset(("$transaction", "$movement", "$amount"))
_NEEDED: Final[dict[CallKind, frozenset[str]]] = {
    "balance": frozenset(("$player", "$currency")),
    "bet": frozenset(("$player", "$currency", "$round", "$transaction", "$amount")),
    "win": frozenset(("$player", "$currency", "$round", "$transaction", "$amount")),
    "rollback": frozenset(("$player", "$currency", "$transaction", "$amount")),
}
"""Without these a partner could not do what it is asked; a bet's or win's `$movement` is its transaction."""

Meaning = Literal[
    "ok",
    "duplicate",
    "refused_funds",
    "refused_player",
    "refused_not_found",
    "refused_other",
    "server_error",
]
"""What a well-formed answer may mean: the other words come from comparing it, or from the wire."""


class DialectInvalid(Exception):
    """A dialect that cannot be used; the text says what has to be changed where."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Amounts(_Part):
    """How amounts are written: `factor` of the partner's units are one minor or one major unit."""

    unit: Literal["minor", "major"]
    factor: Annotated[int, Field(ge=1, le=10**12)]
    written: Literal["integer", "text"] = "integer"
    """As a JSON number without a point, or the same in a string."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.unit == "major" and self.factor % 10**MOST_DIGITS:
            raise ValueError(
                f"a factor of major units has to be a multiple of {10**MOST_DIGITS}: amounts stay whole"
            )
        return self


class Signature(_Part):
    """How the body's bytes are signed."""

    header: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$")]
    scheme: Literal["hmac-sha256", "rsa-sha256"]
    """HMAC under the shared secret, or RSA (PKCS#1 v1.5) under our private key."""
    encoding: Literal["hex", "base64"]
    prefix: str = ""
    """Before the signature, such as `sha256=`."""


class CallShape(_Part):
    """One kind of call: where it goes, and what its body looks like. It is a POST of JSON."""

    path: Annotated[str, Field(pattern=r"^(/[A-Za-z0-9._~-]+)+$")]
    body: dict[str, JsonValue]


class AnswerRule(_Part):
    """One meaning: it is that of an answer with this HTTP status and these fields."""

    means: Meaning
    where: Annotated[dict[str, JsonValue], Field(min_length=1)]
    """Fields and their values; all have to be there."""
    http: Annotated[int, Field(ge=200, le=599)] = 200
    calls: tuple[CallKind, ...] = ("balance", "bet", "win", "rollback")
    """Of which calls it may be an answer."""
    same: dict[str, str] = Field(default_factory=dict)
    """Fields that have to repeat what was sent: another value contradicts it."""


class AnswerShape(_Part):
    """How answers, JSON objects, are read. The first rule that fits says what one means; none: unreadable."""

    status: str
    """The field that is shown where no meaning is known."""
    detail: str
    """The field that is kept of a refusal, for disputes."""
    balance: str
    """The field with what the player has now; other answers than those to `balance` may lack it."""
    same: dict[str, str] = Field(default_factory=dict)
    """Fields that every answer has to repeat."""
    meanings: Annotated[tuple[AnswerRule, ...], Field(min_length=1)]

    @property
    def statuses(self) -> frozenset[int]:
        """The HTTP statuses under which an answer is read; another one counts as a server's error."""
        return frozenset(rule.http for rule in self.meanings)


class Dialect(_Part):
    """Everything in which partners differ."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")]
    about: str = ""
    transactions: Literal["batch", "single"]
    """All transactions of a call in one request, or a request each."""
    amounts: Amounts
    signature: Signature
    headers: dict[str, str] = Field(default_factory=dict)
    """Further headers; values may be variables."""
    calls: dict[CallKind, CallShape]
    answer: AnswerShape
    repeated: Meaning = "ok"
    """What a partner says to a transaction that it has done before."""
    unknown_rollback: Meaning = "refused_not_found"
    """What it says to a rollback of something that never came."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for kind in _NEEDED:
            shape = self.calls.get(kind)
            if shape is None:
                raise ValueError(f"calls: {kind} is missing")
            self._check_call(kind, shape)
            if not any(rule.means == "ok" and kind in rule.calls for rule in self.answer.meanings):
                raise ValueError(f"answer: no meaning `ok` for {kind}: nothing could ever be accepted")
        self._check_variables(self.headers, self.answer.same)
        for rule in self.answer.meanings:
            one = self.transactions == "single" and "balance" not in rule.calls
            self._check_variables(rule.same, more=OF_TRANSACTION if one else frozenset())
        for meaning in (self.repeated, self.unknown_rollback):
            if not any(r.means == meaning and "rollback" in r.calls for r in self.answer.meanings):
                raise ValueError(f"answer: no meaning `{meaning}` for a rollback, which this partner says")
        return self

    def _check_call(self, kind: CallKind, shape: CallShape) -> None:
        used = variables_of(shape.body)
        unknown = used - OF_CALL - OF_TRANSACTION
        if unknown:
            raise ValueError(f"calls.{kind}: unknown variables {', '.join(sorted(unknown))}")
        if kind != "rollback" and "$movement" in used:
            used |= {"$transaction"}
        missing = _NEEDED[kind] - used
        if missing:
            raise ValueError(f"calls.{kind}: its body lacks {', '.join(sorted(missing))}")
        if kind == "balance" and used & OF_TRANSACTION:
            raise ValueError("calls.balance: it has no transaction")
        loose = _outside_of_lists(shape.body) & OF_TRANSACTION
        if loose and self.transactions == "batch":
            names = ", ".join(sorted(loose))
            raise ValueError(
                f"calls.{kind}: {names} outside of a list: a batch has several, so use a list of one item"
            )

    @staticmethod
    def _check_variables(*sources: dict[str, str], more: frozenset[str] = frozenset()) -> None:
        for source in sources:
            for name, value in source.items():
                if value.startswith("$") and value not in OF_CALL | more:
                    raise ValueError(f"{name}: {value} is no variable that there is here")

    def means(self, kind: CallKind, answer: AnswerKind) -> AnswerRule | None:
        """The first rule with which a partner can say this of such a call, if there is one."""
        return next((r for r in self.answer.meanings if r.means == answer and kind in r.calls), None)


def variables_of(template: JsonValue) -> frozenset[str]:
    """The variables that a template mentions."""
    if isinstance(template, str):
        return frozenset((template,)) if template.startswith("$") else frozenset()
    if isinstance(template, dict):
        return frozenset().union(*(variables_of(value) for value in template.values()))
    if isinstance(template, list):
        return frozenset().union(*(variables_of(value) for value in template))
    return frozenset()


def _outside_of_lists(template: JsonValue) -> frozenset[str]:
    """The variables that a template mentions outside of lists that are repeated for each transaction."""
    if isinstance(template, list) and len(template) == 1 and variables_of(template) & OF_TRANSACTION:
        return frozenset()
    if isinstance(template, dict):
        return frozenset().union(*map(_outside_of_lists, template.values()))
    if isinstance(template, list):
        return frozenset().union(*map(_outside_of_lists, template))
    return variables_of(template)


def read_dialect(text: str | bytes) -> Dialect:
    """A dialect from its JSON. Raises DialectInvalid."""
    try:
        return Dialect.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(one) for one in first["loc"]) or "the dialect"
        raise DialectInvalid(f"{where}: {first['msg']}") from None


@cache
def shipped_dialects() -> tuple[str, ...]:
    """The names of the dialects that come with this package."""
    found = (files("upcard_seamless") / "data" / "dialects").iterdir()
    return tuple(sorted(one.name.removesuffix(".json") for one in found if one.name.endswith(".json")))


@cache
def load_dialect(name: str) -> Dialect:
    """A shipped dialect by its name, or one of yours by the path of its file, which ends with `.json`.

    Raises DialectInvalid, with the names that there are.
    """
    if name in shipped_dialects():
        return read_dialect((files("upcard_seamless") / "data" / "dialects" / f"{name}.json").read_bytes())
    if not name.endswith(".json"):
        known = ", ".join(shipped_dialects())
        raise DialectInvalid(
            f"{name}: there is no such dialect; there are {known}, or a path to a .json file"
        )
    try:
        return read_dialect(Path(name).read_bytes())
    except OSError as error:
        raise DialectInvalid(f"{name} cannot be read: {error.strerror}") from None


def written(dialect: Dialect) -> str:
    """A dialect as the text of a file, to begin one's own with."""
    return json.dumps(dialect.model_dump(mode="json", exclude_defaults=True), indent=2) + "\n"
