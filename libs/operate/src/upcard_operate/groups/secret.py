"""`upcard secrets`: the secrets of a new installation, as the file that docker compose reads."""

from __future__ import annotations

import base64
import json
import sys

from upcard_operate import keys
from upcard_operate.options import SERVICES, AsJson


def make(as_json: AsJson = False) -> None:
    """Print fresh secrets as `NAME=value` lines: `upcard secrets > .env`. Each call makes others.

    The signing keys are for the gateway and for shoe readers, which vouch with them for who acts.
    """
    gateway, shoe = keys.SigningKey.generate("gateway-1"), keys.SigningKey.generate("shoe-1")
    checkpoints = keys.checkpoint_keys()
    public = (keys.checkpoint_key(keys.local_origin(name), seed) for name, seed in checkpoints.items())
    made = {
        "UPCARD_POSTGRES_PASSWORD": keys.password(),
        **{f"UPCARD_{service.upper()}_DATABASE_PASSWORD": keys.password() for service in SERVICES},
        **{f"UPCARD_{service.upper()}_CHECKPOINT_KEYS": seed for service, seed in checkpoints.items()},
        # Public, and to be kept elsewhere too: what audits are made with.
        "UPCARD_CHECKPOINT_PUBLIC": " ".join(public),
        "UPCARD_TRUSTED_KEYS": f"{gateway.trusted()},{shoe.trusted('dealer')}",
        **{name: value for own in keys.service_secrets().values() for name, value in own.items()},
        "UPCARD_SIGNING_KEY_ID": gateway.key_id,
        # One line: compose files have no others.
        "UPCARD_SIGNING_KEY_BASE64": base64.b64encode(gateway.pem().encode()).decode(),
        "UPCARD_SHOE_SIGNING_KEY_ID": shoe.key_id,
        "UPCARD_SHOE_SIGNING_KEY_BASE64": base64.b64encode(shoe.pem().encode()).decode(),
    }
    if as_json:
        sys.stdout.write(json.dumps(made) + "\n")
        return
    for name, value in made.items():
        sys.stdout.write(f"{name}='{value}'\n")
