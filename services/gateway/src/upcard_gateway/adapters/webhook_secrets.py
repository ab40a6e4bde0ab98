"""Secrets of webhook endpoints: encrypted where they lie, bound to their endpoint and version."""

from __future__ import annotations

import base64
import json
import os
from typing import Final

from eventstore.private import Keyring
from upcard_gateway.adapters.postgres.webhook_queue import Sealed
from upcard_platform.models.webhooks import Endpoint, EndpointWithSecret
from upcard_platform.webhooks import written_secret

SECRET_BYTES: Final = 32


def new_secret(keyring: Keyring, endpoint: str, version: int) -> Sealed:
    """A fresh secret of an endpoint."""
    key, sealed = keyring.encrypt(os.urandom(SECRET_BYTES), _place(endpoint), version)
    return Sealed(key, sealed, version)


def unsealed(keyring: Keyring, endpoint: str, sealed: Sealed) -> bytes:
    """The secret's bytes. Raises UnknownKey, PrivatePartUnreadable."""
    return keyring.decrypt(sealed.key, sealed.secret, _place(endpoint), sealed.version)


def stored(endpoint: Endpoint, secret: Sealed) -> bytes:
    """An answer with a secret as it is kept for who asks again: the secret stays encrypted."""
    sealed = {
        "key": secret.key,
        "version": secret.version,
        "secret": base64.b64encode(secret.secret).decode(),
    }
    return json.dumps({"endpoint": endpoint.model_dump(mode="json"), "sealed": sealed}).encode()


def shown(keyring: Keyring, answer: bytes) -> EndpointWithSecret:
    """The answer that was kept, as it is shown."""
    kept = json.loads(answer)
    endpoint = Endpoint.model_validate(kept["endpoint"])
    sealed = kept["sealed"]
    secret = Sealed(sealed["key"], base64.b64decode(sealed["secret"]), sealed["version"])
    return EndpointWithSecret(
        endpoint=endpoint, secret=written_secret(unsealed(keyring, endpoint.endpoint, secret))
    )


def _place(endpoint: str) -> str:
    return f"webhook-{endpoint}"
