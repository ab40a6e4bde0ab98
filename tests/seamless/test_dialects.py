"""Dialects as data: what is shipped differs in everything that partners differ in, and wrong data is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from upcard_seamless.dialects import (
    Dialect,
    DialectInvalid,
    load_dialect,
    read_dialect,
    shipped_dialects,
    written,
)

PLAIN, SINGLE = load_dialect("plain"), load_dialect("single")


def test_the_two_shipped_ones_differ_in_all_in_which_partners_differ() -> None:
    assert shipped_dialects() == ("plain", "single")
    assert PLAIN.transactions != SINGLE.transactions
    assert PLAIN.amounts != SINGLE.amounts
    assert PLAIN.signature.scheme != SINGLE.signature.scheme
    assert PLAIN.signature.encoding != SINGLE.signature.encoding
    assert PLAIN.signature.header != SINGLE.signature.header
    assert PLAIN.repeated != SINGLE.repeated
    assert PLAIN.unknown_rollback != SINGLE.unknown_rollback
    assert PLAIN.answer.status != SINGLE.answer.status
    for kind, shape in PLAIN.calls.items():
        other = SINGLE.calls[kind]
        assert shape.path != other.path
        assert set(shape.body) & set(other.body) <= {"currency"}


@pytest.mark.parametrize("name", shipped_dialects())
def test_a_dialect_is_written_as_it_is_read(name: str) -> None:
    dialect = load_dialect(name)
    assert read_dialect(written(dialect)) == dialect


def test_a_file_of_ones_own_is_a_dialect_too(tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    mine.write_text(written(PLAIN).replace('"name": "plain"', '"name": "mine"'), encoding="utf-8")
    assert load_dialect(str(mine)).name == "mine"


def changed(**changes: Any) -> str:
    """The plain dialect with other parts."""
    return json.dumps({**json.loads(written(PLAIN)), **changes})


def calls_without(kind: str, field: str) -> dict[str, Any]:
    """The plain dialect's calls, one of them without a field."""
    calls: dict[str, Any] = json.loads(written(PLAIN))["calls"]
    del calls[kind]["body"][field]
    return calls


def calls_with(kind: str, **more: object) -> object:
    """The calls of a shipped dialect, one of them with more in its body."""
    calls = json.loads(written(PLAIN))["calls"]
    calls[kind]["body"] |= more
    return calls


def test_what_is_sent_with_every_call_has_no_transaction() -> None:
    text = json.loads(written(load_dialect("single")))
    for part in ({"headers": {"Id": "$movement"}}, {"answer": text["answer"] | {"same": {"id": "$amount"}}}):
        with pytest.raises(DialectInvalid, match="no variable that there is here"):
            read_dialect(json.dumps(text | part))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "JSON"),
        (changed(name="No Name"), "name"),
        (changed(more=1), "more"),
        (changed(calls={"bet": {"path": "/bet", "body": {}}}), "balance is missing"),
        (changed(calls=calls_without("bet", "player")), "calls.bet: its body lacks $player"),
        (changed(calls=calls_without("win", "transactions")), "lacks $amount, $transaction"),
        (changed(amounts={"unit": "major", "factor": 100}), "multiple of 10000"),
        (changed(headers={"Id": "$transaction"}), "no variable that there is here"),
        (changed(calls=calls_with("bet", one="$transaction")), "calls.bet: $transaction outside of a list"),
        (changed(calls=calls_with("balance", all=["$amount"])), "calls.balance: it has no transaction"),
        (changed(repeated="duplicate"), "no meaning `duplicate`"),
        (
            changed(signature={"header": "S p a c e", "scheme": "hmac-sha256", "encoding": "hex"}),
            "signature.header",
        ),
    ],
)
def test_a_wrong_dialect_says_where_it_is_wrong(text: str, said: str) -> None:
    with pytest.raises(DialectInvalid) as caught:
        read_dialect(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "said"), [("nobody", "there are plain, single"), ("/nowhere/x.json", "cannot be read")]
)
def test_a_dialect_that_is_not_there_is_told(name: str, said: str) -> None:
    with pytest.raises(DialectInvalid, match=said):
        load_dialect(name)


def test_an_unknown_variable_is_told() -> None:
    calls = json.loads(written(PLAIN))["calls"]
    calls["bet"]["body"]["more"] = "$sessoin"
    with pytest.raises(DialectInvalid, match="unknown variables \\$sessoin"):
        read_dialect(changed(calls=calls))


def test_a_dialect_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        PLAIN.name = "other"
    assert isinstance(PLAIN, Dialect)
