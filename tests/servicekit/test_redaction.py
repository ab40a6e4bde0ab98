"""Secrets are found: by value in any form, by name, by their looks."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servicekit.logging import MASK, Redactor
from servicekit.logging.redaction import MOST_SECRETS, names_a_secret

AWKWARD = 'pä"ss\nw/o@rd'


def knowing(*secrets: str) -> Redactor:
    redactor = Redactor()
    for secret in secrets:
        redactor.add(secret)
    return redactor


@pytest.mark.parametrize(
    "form",
    [
        AWKWARD,
        quote(AWKWARD, safe=""),
        quote(AWKWARD),
        repr(AWKWARD),
        ascii(AWKWARD),
        base64.b64encode(AWKWARD.encode()).decode(),
    ],
)
def test_a_known_secret_is_found_in_each_form(form: str) -> None:
    shown = knowing(AWKWARD).text(f"it is {form}, you know")
    assert MASK in shown
    assert form.strip("'\"=") not in shown


@given(st.text(min_size=4, max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_a_known_secret_is_nowhere_in_any_text(secret: str, before: str, after: str) -> None:
    if secret in MASK:
        return
    assert secret not in knowing(secret).text(f"{before}{secret}{after}").replace(MASK, "\0")


def test_of_an_address_the_password_alone_is_found_too() -> None:
    redactor = knowing("postgresql://upcard:correct-horse@host:5432/table")
    assert redactor.text("password correct-horse was refused") == f"password {MASK} was refused"


def test_of_an_address_the_password_is_found_decoded_too() -> None:
    redactor = knowing("postgresql://upcard:correct%2Fho%22rse@host:5432/table")
    assert redactor.text('it is correct/ho"rse') == f"it is {MASK}"


def test_each_long_line_of_a_key_is_found() -> None:
    key = "-----BEGIN X-----\nMIIEvQIBADANBgkqhkiG\nq83vEjRWeJCrze8SNFZ4\n-----END X-----\n"
    assert knowing(key).text("it begins MIIEvQIBADANBgkqhkiG") == f"it begins {MASK}"


def test_short_values_are_not_looked_for() -> None:
    assert knowing("abc").text("abcdef") == "abcdef"


def test_a_secret_within_another_is_no_trap() -> None:
    redactor = knowing("abc-", "abc-def-xyz")
    assert redactor.text("abc-def-xyz") == MASK


def test_secrets_are_bounded() -> None:
    redactor = knowing(*(f"secret-{number:04}" for number in range(MOST_SECRETS // 2)))
    with pytest.raises(ValueError, match="more than"):
        redactor.add("one more")


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("postgresql://u:hunter2@host/db", "hunter2"),
        ("postgresql://u:p@ss:w0rd@host/db", "w0rd"),
        ("amqp://:hunter2@host", "hunter2"),
        ("host=h password=hunter2 user=u", "hunter2"),
        ("password='hunter 2' user=u", "hunter 2"),
        ('{"password": "hunter2"}', "hunter2"),
        ("client_secret: hunter2", "hunter2"),
        ("api-key=hunter2", "hunter2"),
        ("Authorization: Bearer abc.def-123", "abc.def-123"),
        ("authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("got eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJwMSJ9.c2ln", "eyJzdWIiOiJwMSJ9"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----", "MIIE"),
    ],
)
def test_what_looks_like_a_secret_is_masked_though_nobody_knew_it(text: str, hidden: str) -> None:
    shown = Redactor().text(text)
    assert hidden not in shown
    assert MASK in shown


@pytest.mark.parametrize(
    "text",
    [
        "https://host:8080/path",
        "the tokens that are left",
        "password",
        "round-t1.7 at 12:30",
        "basic rules",
        "",
    ],
)
def test_other_text_is_left_alone(text: str) -> None:
    assert Redactor().text(text) == text


@pytest.mark.parametrize(
    "name",
    ["password", "DB_PASSWORD", "secret", "refresh_token", "Authorization", "api_key", "dsn", "card_salt"],
)
def test_names_of_secrets(name: str) -> None:
    assert names_a_secret(name)


@pytest.mark.parametrize("name", ["player", "stream", "position", "event", "keyspace", "round"])
def test_names_of_other_things(name: str) -> None:
    assert not names_a_secret(name)


@pytest.mark.parametrize(
    "text",
    [
        "://a:b" * 20_000,
        "a://" + ":" * 60_000,
        "eyJaaaaaa" * 10_000,
        "pass_" * 20_000,
        "-----BEGIN PRIVATE KEY-----" * 2_000,
    ],
)
def test_no_text_takes_long(text: str) -> None:
    # Nothing here is timed: a pattern that can be matched in many ways would not end within the test's life.
    assert isinstance(Redactor().text(text), str)
