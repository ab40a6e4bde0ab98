"""Webhooks: how they are signed, and how a platform checks one before it believes it.

The headers and the signed text are those of the Standard Webhooks specification, so that its libraries in
other languages can check them too: `webhook-id`, `webhook-timestamp` (seconds since 1970) and
`webhook-signature`, one or more of `v1,<base64>` with a blank between, each the HMAC-SHA256 of
`<id>.<timestamp>.<body>`. A secret is `whsec_` and the base64 of its bytes.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import hmac
import re
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import ValidationError

from upcard_platform.models.webhooks import Webhook

__all__ = [
    "ID_HEADER",
    "SIGNATURE_HEADER",
    "TIMESTAMP_HEADER",
    "TOLERANCE_S",
    "WebhookRefused",
    "secret_bytes",
    "signed_webhook_headers",
    "verified",
    "written_secret",
]

ID_HEADER: Final = "webhook-id"
TIMESTAMP_HEADER: Final = "webhook-timestamp"
SIGNATURE_HEADER: Final = "webhook-signature"

TOLERANCE_S: Final = 300.0
"""By how much a webhook's time may differ from the receiver's clock, in seconds."""

LARGEST_BODY: Final = 1_048_576
"""Most bytes of a webhook's body."""

_PREFIX: Final = "whsec_"
_SECRET_BYTES: Final = range(24, 65)
_SECONDS: Final = re.compile(r"[0-9]{1,12}")
_SIGNATURES_MAX: Final = 8
"""Two are there while a secret is replaced."""


class WebhookRefused(Exception):
    """A webhook that must not be believed: answer 400 and do nothing. `code` is a stable word for why."""

    def __init__(self, code: str, why: str) -> None:
        self.code = code
        super().__init__(why)


def written_secret(secret: bytes) -> str:
    """How a secret is written. Raises ValueError unless it has 24 to 64 bytes."""
    if len(secret) not in _SECRET_BYTES:
        raise ValueError("a webhook's secret has 24 to 64 bytes")
    return _PREFIX + base64.b64encode(secret).decode()


def secret_bytes(written: str) -> bytes:
    """The bytes of a secret that is written `whsec_…`. Raises ValueError, which does not show it."""
    try:
        secret = base64.b64decode(written.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if not written.startswith(_PREFIX) or len(secret) not in _SECRET_BYTES:
        raise ValueError("a webhook's secret is whsec_ and the base64 of 24 to 64 bytes")
    return secret


def signed_webhook_headers(
    secrets: Sequence[bytes], webhook_id: str, at: dt.datetime, body: bytes
) -> dict[str, str]:
    """The headers of a webhook that is sent at `at`, signed with each of these secrets."""
    seconds = str(int(at.timestamp()))
    signatures = [f"v1,{_signature(secret, webhook_id, seconds, body)}" for secret in secrets]
    return {ID_HEADER: webhook_id, TIMESTAMP_HEADER: seconds, SIGNATURE_HEADER: " ".join(signatures)}


def verified(
    headers: Mapping[str, str],
    body: bytes,
    secret: str,
    *,
    now: dt.datetime | None = None,
    tolerance_s: float = TOLERANCE_S,
) -> Webhook:
    """What a webhook says, once it is certain that it is ours, whole, and not an old one sent again.

    `headers` may be in any case; `body` is the bytes as they came, not parsed and written again; `secret` is
    the endpoint's, `whsec_…`. Webhooks come at least once: keep the ids (`Webhook.id`) of those that were
    dealt with, and answer 2xx to one that comes again without doing anything. Raises WebhookRefused:
    `headers_missing`, `timestamp_invalid`, `too_old`, `too_new`, `signature_wrong`, `body_too_large`,
    `body_unreadable`; ValueError for a secret that is none.
    """
    keyed = {name.lower(): value for name, value in headers.items()}
    webhook_id, seconds, signatures = (
        keyed.get(name, "") for name in (ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER)
    )
    if not (webhook_id and seconds and signatures):
        raise WebhookRefused("headers_missing", "a webhook has an id, a timestamp and a signature")
    if len(body) > LARGEST_BODY:
        raise WebhookRefused("body_too_large", f"no webhook has more than {LARGEST_BODY} bytes")
    if not _SECONDS.fullmatch(seconds):
        raise WebhookRefused("timestamp_invalid", "the timestamp is whole seconds since 1970")
    expected = _signature(secret_bytes(secret), webhook_id, seconds, body)
    if not _fits(signatures, expected):
        raise WebhookRefused("signature_wrong", "no signature is that of this body under this secret")
    age_s = (now or dt.datetime.now(dt.UTC)).timestamp() - int(seconds)
    if age_s > tolerance_s:
        raise WebhookRefused("too_old", f"it was sent {age_s:.0f} s ago")
    if age_s < -tolerance_s:
        raise WebhookRefused("too_new", f"it was sent {-age_s:.0f} s ahead of this clock")
    try:
        found = Webhook.model_validate_json(body)
    except ValidationError as error:
        raise WebhookRefused("body_unreadable", f"signed, and not what this client knows: {error}") from error
    if found.id != webhook_id:
        raise WebhookRefused("signature_wrong", "the body has another id than the header")
    return found


def _signature(secret: bytes, webhook_id: str, seconds: str, body: bytes) -> str:
    text = b".".join((webhook_id.encode(), seconds.encode(), body))
    return base64.b64encode(hmac.digest(secret, text, "sha256")).decode()


def _fits(signatures: str, expected: str) -> bool:
    wanted = expected.encode()
    fits = False
    for one in signatures.split(" ")[:_SIGNATURES_MAX]:
        version, _, value = one.partition(",")
        # Each is compared in full, whatever the others were.
        fits |= version == "v1" and hmac.compare_digest(value.encode(), wanted)
    return fits
