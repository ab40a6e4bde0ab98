"""Requests, signatures, amounts, and what answers mean: in each dialect."""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upcard_seamless.amounts import LARGEST, from_partner, to_partner
from upcard_seamless.answers import Accepted, AnswerKind, NotSent, Refused, Unclear, Verdict
from upcard_seamless.calls import Call, CallKind, Transaction, movement_of
from upcard_seamless.currencies import minor_digits
from upcard_seamless.dialects import Amounts, Dialect, load_dialect, shipped_dialects
from upcard_seamless.reading import together, verdict_of
from upcard_seamless.requests import Request, parts_of, request_of
from upcard_seamless.signing import KeyInvalid, new_rsa_key, signer_of, verifier_of

PLAIN, SINGLE = load_dialect("plain"), load_dialect("single")
PRIVATE, PUBLIC = new_rsa_key()
SECRET = b"a secret of tests"
FIRST, SECOND = Transaction(UUID(int=11), 100), Transaction(UUID(int=12), 10)
BET = Call(UUID(int=1), "bet", "op1", "acc1", "p1", "EUR", "t1.7", (FIRST, SECOND))
NETWORK = UUID(int=99)


SIGNERS = {
    "plain": signer_of(PLAIN.signature, SECRET),
    "single": signer_of(SINGLE.signature, PRIVATE),
}


def sent(dialect: Dialect, call: Call = BET) -> list[Request]:
    """A call's requests."""
    return [request_of(dialect, part, NETWORK, SIGNERS[dialect.name]) for part in parts_of(dialect, call)]


def of_kind(kind: CallKind, *transactions: Transaction) -> Call:
    """The same player's."""
    return replace(BET, kind=kind, transactions=transactions)


def test_a_plain_bet_is_what_partners_have_always_got() -> None:
    (request,) = sent(PLAIN)
    assert request.path == "/bet"
    assert request.body == (
        b'{"call":"00000000-0000-0000-0000-000000000001","operator":"op1","player":"p1","currency":"EUR",'
        b'"round":"t1.7","transactions":[{"id":"00000000-0000-0000-0000-00000000000b","amount":100},'
        b'{"id":"00000000-0000-0000-0000-00000000000c","amount":10}],"total":110,"closes_round":false}'
    )
    assert request.headers == {
        "Content-Type": "application/json",
        "Upcard-Signature": hmac.new(SECRET, request.body, "sha256").hexdigest(),
        "Upcard-Request-Id": str(NETWORK),
    }


def test_a_single_bet_is_a_request_a_transaction_in_hundred_thousandths() -> None:
    one, two = sent(SINGLE)
    assert json.loads(one.body) == {
        "request_id": str(NETWORK),
        "operator_id": "op1",
        "user": "p1",
        "currency": "EUR",
        "round_id": "t1.7",
        "batch_id": str(BET.call),
        "transaction_id": str(FIRST.id),
        "amount": 100_000,
    }
    assert (json.loads(two.body)["transaction_id"], json.loads(two.body)["amount"]) == (
        str(SECOND.id),
        10_000,
    )


def test_a_rollback_names_what_it_undoes_and_has_an_id_of_its_own_in_every_try() -> None:
    (request,) = sent(SINGLE, of_kind("rollback", FIRST))
    body = json.loads(request.body)
    assert body["reference_transaction_id"] == str(FIRST.id)
    assert body["transaction_id"] == str(movement_of("rollback", BET.call, FIRST.id)) != str(FIRST.id)
    (plain,) = sent(PLAIN, of_kind("rollback", FIRST))
    assert json.loads(plain.body)["transactions"] == [{"id": str(FIRST.id), "amount": 100}]


def test_a_question_has_no_transactions() -> None:
    for dialect in (PLAIN, SINGLE):
        (request,) = sent(dialect, of_kind("balance"))
        assert str(FIRST.id) not in request.body.decode()


@pytest.mark.parametrize("name", shipped_dialects())
def test_a_signature_fits_its_body_alone(name: str) -> None:
    dialect = load_dialect(name)
    secret, theirs = (PRIVATE, PUBLIC) if dialect is SINGLE else (SECRET, SECRET)
    made = signer_of(dialect.signature, secret).sign(b"body")
    verifier = verifier_of(dialect.signature, theirs)
    assert verifier.fits(b"body", made)
    assert not verifier.fits(b"bodies", made)
    for wrong in ("", made[:-4], made + "00", "ä" + made, made[::-1]):
        assert not verifier.fits(b"body", wrong)


@pytest.mark.parametrize(
    ("dialect", "secret"), [(PLAIN, b"short"), (SINGLE, SECRET), (SINGLE, PUBLIC), (SINGLE, b"")]
)
def test_a_key_that_does_not_fit_is_refused_without_being_shown(dialect: Dialect, secret: bytes) -> None:
    with pytest.raises(KeyInvalid) as caught:
        signer_of(dialect.signature, secret)
    assert secret.decode() not in str(caught.value) or not secret
    assert SECRET.decode() not in repr(signer_of(PLAIN.signature, SECRET))


@given(
    amounts=st.sampled_from(
        [
            Amounts(unit="minor", factor=1),
            Amounts(unit="minor", factor=1_000, written="text"),
            Amounts(unit="major", factor=100_000),
            Amounts(unit="major", factor=10_000, written="text"),
        ]
    ),
    currency=st.sampled_from(["EUR", "JPY", "KWD", "CLF"]),
    minor=st.integers(0, LARGEST),
)
def test_amounts_come_back_as_they_went(amounts: Amounts, currency: str, minor: int) -> None:
    assert from_partner(amounts, currency, to_partner(amounts, currency, minor)) == minor


@pytest.mark.parametrize("said", [None, True, 1.5, "1", [], 10**40, "1.0", "\u0663", "-", "9" * 99])
def test_what_is_no_amount_is_none(said: object) -> None:
    assert from_partner(PLAIN.amounts, "EUR", said) is None
    text = Amounts(unit="minor", factor=1, written="text")
    assert from_partner(text, "EUR", said) == (1 if said == "1" else None)


def test_parts_of_a_minor_unit_are_rounded_down() -> None:
    assert from_partner(SINGLE.amounts, "EUR", 1_999) == 1
    assert to_partner(SINGLE.amounts, "JPY", 3) == 300_000
    assert (minor_digits("JPY"), minor_digits("EUR"), minor_digits("KWD"), minor_digits("UYW")) == (
        0,
        2,
        3,
        4,
    )


def single_answer(**changes: object) -> bytes:
    """An answer of a partner that speaks `single` to the first part of the bet."""
    about = {"request_id": str(NETWORK), "user": "p1", "currency": "EUR"}
    return json.dumps({**about, "amount": 100_000, "code": "OK", "balance": 5_000, **changes}).encode()


@pytest.mark.parametrize(
    ("http", "changes", "answer"),
    [
        (200, {}, "ok"),
        (200, {"code": "ALREADY_PROCESSED"}, "duplicate"),
        (200, {"amount": 100}, "wrong_amount"),
        (200, {"amount": True}, "wrong_amount"),
        (200, {"code": "ALREADY_PROCESSED", "amount": 1}, "wrong_amount"),
        (200, {"currency": "USD"}, "wrong_currency"),
        (200, {"user": "p2"}, "wrong_player"),
        (200, {"request_id": "another"}, "wrong_call"),
        (402, {"code": "BALANCE_TOO_LOW"}, "refused_funds"),
        (403, {"code": "SESSION_EXPIRED"}, "refused_player"),
        (404, {"code": "TRANSACTION_UNKNOWN"}, "refused_not_found"),
        (409, {"code": "ID_REUSED"}, "refused_other"),
        (200, {"code": "BALANCE_TOO_LOW"}, "unreadable"),
        (402, {}, "unreadable"),
        (401, {"code": "SIGNATURE_INVALID"}, "server_error"),
        (503, {"code": "TRY_LATER"}, "server_error"),
        (503, {"code": "OK"}, "server_error"),
        (500, {}, "server_error"),
        (204, {}, "server_error"),
        (301, {}, "server_error"),
    ],
)
def test_an_answer_means_what_its_dialect_says(
    http: int, changes: dict[str, object], answer: AnswerKind
) -> None:
    request = sent(SINGLE)[0]
    assert verdict_of(SINGLE, request, http, single_answer(**changes)).answer == answer


@pytest.mark.parametrize("data", [None, b"", b"[]", b"\xff", b"null", b'"OK"', b"{}"])
@pytest.mark.parametrize("http", [200, 402, 503])
def test_what_is_no_answer_is_never_believed(http: int, data: bytes | None) -> None:
    verdict = verdict_of(SINGLE, sent(SINGLE)[0], http, data)
    assert isinstance(verdict, Unclear)


@pytest.mark.parametrize(
    ("http", "body", "answer"),
    [
        (503, {"message": "Service Unavailable"}, "server_error"),
        (503, {"code": "TRY_LATER"}, "server_error"),
        (404, {"detail": "Not Found"}, "unreadable"),
        (401, {"code": "SIGNATURE_INVALID"}, "unreadable"),
        (200, {"code": "OK"}, "wrong_call"),
        (503, {"code": "TRY_LATER", "request_id": "another"}, "wrong_call"),
    ],
)
def test_json_of_somebody_between_us_contradicts_nothing(
    http: int, body: dict[str, object], answer: AnswerKind
) -> None:
    verdict = verdict_of(SINGLE, sent(SINGLE)[0], http, json.dumps(body).encode())
    assert verdict.answer == answer


def test_a_balance_comes_with_the_answer() -> None:
    for call in (BET, of_kind("balance")):
        verdict = verdict_of(SINGLE, sent(SINGLE, call)[0], 200, single_answer())
        assert isinstance(verdict, Accepted)
        assert verdict.balance == 5


@pytest.mark.parametrize("balance", [None, "5000", -1_000, 1.5, True])
def test_a_balance_that_is_none_is_not_shown(balance: object) -> None:
    verdict = verdict_of(SINGLE, sent(SINGLE, of_kind("balance"))[0], 200, single_answer(balance=balance))
    assert verdict.answer == "unreadable"


REQUESTS = [(dialect, sent(dialect)[0]) for dialect in (PLAIN, SINGLE)]


@given(data=st.binary(max_size=200), http=st.sampled_from([200, 400, 402, 403, 404, 409, 500, 503]))
def test_whatever_comes_is_a_verdict_and_never_a_yes(data: bytes, http: int) -> None:
    for dialect, request in REQUESTS:
        assert isinstance(verdict_of(dialect, request, http, data), Unclear)


FUNDS, UNKNOWN_THERE, LATE = Refused("funds"), Refused("not_found"), Unclear(kind="time_out")


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ([Accepted(), Accepted()], Accepted()),
        ([Accepted(duplicate=True), Accepted()], Accepted()),
        ([Accepted(duplicate=True), Accepted(duplicate=True)], Accepted(duplicate=True)),
        ([FUNDS], FUNDS),
        ([Accepted(), FUNDS], FUNDS),
        ([NotSent()], NotSent()),
        ([NotSent(), NotSent()], NotSent()),
        ([Accepted(), NotSent()], Unclear()),
        ([Accepted(), LATE], LATE),
        ([UNKNOWN_THERE, Accepted()], UNKNOWN_THERE),
        ([UNKNOWN_THERE, FUNDS], FUNDS),
        ([UNKNOWN_THERE, LATE], LATE),
    ],
)
def test_parts_of_a_call_mean_something_together(parts: Sequence[Verdict], whole: Verdict) -> None:
    made = together(parts)
    assert made == whole
    if isinstance(made, Refused):
        assert made.partly == any(isinstance(one, Accepted) for one in parts)
