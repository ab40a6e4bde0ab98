"""What a platform believes of what comes to its address."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import json
from typing import Any

import pytest

from upcard_platform.webhooks import (
    LARGEST_BODY,
    TOLERANCE_S,
    WebhookRefused,
    secret_bytes,
    signed_webhook_headers,
    verified,
    written_secret,
)

SECRET = bytes(range(32))
OTHER = bytes(range(1, 33))
NOW = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
DATA = {
    "what": "closed",
    "table": "t1",
    "name": None,
    "ruleset": None,
    "limits": None,
    "from_round": None,
    "after_round": 9,
}
BODY = json.dumps(
    {
        "id": "w1",
        "type": "table_state",
        "timestamp": "2026-01-31T11:59:00.000000Z",
        "operator": "op1",
        "subject": "table-t1",
        "position": 4,
        "event_id": "e1",
        "data": DATA,
    }
).encode()


def headers(*secrets: bytes, body: bytes = BODY, at: dt.datetime = NOW, who: str = "w1") -> dict[str, str]:
    """As they are sent."""
    return signed_webhook_headers(secrets or (SECRET,), who, at, body)


def test_what_was_signed_is_believed() -> None:
    found = verified(headers(), BODY, written_secret(SECRET), now=NOW)
    assert (found.id, found.subject, found.table_state.after_round) == ("w1", "table-t1", 9)


def test_the_signature_is_that_of_the_public_specification() -> None:
    seconds = str(int(NOW.timestamp()))
    text = f"w1.{seconds}.".encode() + BODY
    expected = base64.b64encode(hmac.new(SECRET, text, hashlib.sha256).digest()).decode()
    assert headers() == {
        "webhook-id": "w1",
        "webhook-timestamp": seconds,
        "webhook-signature": f"v1,{expected}",
    }


def test_either_of_two_secrets_is_enough_while_one_is_replaced() -> None:
    both = headers(OTHER, SECRET)
    for secret in (SECRET, OTHER):
        assert verified(both, BODY, written_secret(secret), now=NOW).id == "w1"


def test_names_of_headers_are_known_in_any_case() -> None:
    shouted = {name.title(): value for name, value in headers().items()}
    assert verified(shouted, BODY, written_secret(SECRET), now=NOW).id == "w1"


LATER = str(int(NOW.timestamp()) + 1)
GOOD = headers()["webhook-signature"]


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        pytest.param("id", None, "headers_missing", id="no id"),
        pytest.param("timestamp", None, "headers_missing", id="no timestamp"),
        pytest.param("signature", None, "headers_missing", id="no signature"),
        pytest.param("id", "w2", "signature_wrong", id="another id"),
        pytest.param("timestamp", LATER, "signature_wrong", id="another time"),
        pytest.param("timestamp", "soon", "timestamp_invalid", id="no time"),
        pytest.param("timestamp", "\u0661\u0662", "timestamp_invalid", id="digits of elsewhere"),
        pytest.param("signature", "v1,", "signature_wrong", id="empty"),
        pytest.param("signature", "v1,\u00e9", "signature_wrong", id="not base64"),
        pytest.param("signature", "v2" + GOOD[2:], "signature_wrong", id="another version"),
        pytest.param("signature", "v1,x " * 8 + GOOD, "signature_wrong", id="too many"),
    ],
)
def test_headers_that_are_not_right_are_refused(name: str, value: str | None, code: str) -> None:
    changed = headers()
    if value is None:
        del changed[f"webhook-{name}"]
    else:
        changed[f"webhook-{name}"] = value
    with pytest.raises(WebhookRefused) as refused:
        verified(changed, BODY, written_secret(SECRET), now=NOW)
    assert refused.value.code == code


def test_another_secret_or_body_is_refused() -> None:
    for secret, body in ((OTHER, BODY), (SECRET, BODY.replace(b"t1", b"t2")), (SECRET, BODY + b" ")):
        with pytest.raises(WebhookRefused) as refused:
            verified(headers(), body, written_secret(secret), now=NOW)
        assert refused.value.code == "signature_wrong"


@pytest.mark.parametrize(
    ("seconds", "code"),
    [(TOLERANCE_S, None), (-TOLERANCE_S, None), (TOLERANCE_S + 1, "too_old"), (-TOLERANCE_S - 1, "too_new")],
)
def test_the_time_may_differ_by_so_much(seconds: float, code: str | None) -> None:
    later = NOW + dt.timedelta(seconds=seconds)
    if code is None:
        assert verified(headers(), BODY, written_secret(SECRET), now=later).id == "w1"
        return
    with pytest.raises(WebhookRefused) as refused:
        verified(headers(), BODY, written_secret(SECRET), now=later)
    assert refused.value.code == code


def test_what_is_signed_and_unknown_is_refused() -> None:
    whole: dict[str, Any] = json.loads(BODY)
    for body in (b"{}", b"no JSON", json.dumps({**whole, "type": "weather"}).encode()):
        with pytest.raises(WebhookRefused) as refused:
            verified(headers(body=body), body, written_secret(SECRET), now=NOW)
        assert refused.value.code == "body_unreadable"
    with pytest.raises(WebhookRefused) as refused:
        verified(headers(who="w2"), BODY, written_secret(SECRET), now=NOW)
    assert refused.value.code == "signature_wrong"
    with pytest.raises(WebhookRefused) as refused:
        verified(headers(), b" " * (LARGEST_BODY + 1), written_secret(SECRET), now=NOW)
    assert refused.value.code == "body_too_large"


def test_what_a_later_version_adds_does_no_harm() -> None:
    body = json.dumps({**json.loads(BODY), "more": 1}).encode()
    assert verified(headers(body=body), body, written_secret(SECRET), now=NOW).id == "w1"


def test_a_secret_is_read_as_it_is_written() -> None:
    written = written_secret(SECRET)
    assert written.startswith("whsec_")
    assert secret_bytes(written) == SECRET
    for wrong in ("", "whsec_", written.removeprefix("whsec_"), "whsec_!!", written_secret(b"x" * 24)[:-8]):
        with pytest.raises(ValueError, match="whsec_"):
            secret_bytes(wrong)
    with pytest.raises(ValueError, match="24 to 64"):
        written_secret(b"x" * 23)
