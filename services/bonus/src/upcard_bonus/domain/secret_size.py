"""The secret size of a must-hit-by jackpot: fair, fixed from the beginning, and provable at its end.

At a cycle's beginning 32 random bytes are drawn, the *secret*. Its commitment is published with the seed; the
size follows from the secret alone, each whole amount of the range as likely as any other. When the cycle ends
the secret is published: anyone can make the commitment and the size from it, and compare.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from upcard_bonus.domain.jackpot_events import Opening, SecretSize

SECRET_BYTES: Final = 32

_COMMITMENT: Final = b"upcard jackpot commitment v1\x00"
_SIZE: Final = b"upcard jackpot size v1\x00"
_VALUES: Final = 1 << 256


def commitment_of(secret: bytes) -> str:
    """What binds the house to a secret, lower-case hex."""
    return sha256(_COMMITMENT + secret).hexdigest()


def threshold_of(secret: bytes, above: int, up_to: int) -> int:
    """The size that a secret stands for: `above` < size <= `up_to`.

    Digests are drawn until one lies in the largest multiple of the range's length, so none is favoured.
    Raises ValueError for an empty range.
    """
    span = up_to - above
    if span < 1:
        raise ValueError(f"no amount is above {above} and at most {up_to}")
    fair = _VALUES - _VALUES % span
    counter = 0
    while True:
        drawn = int.from_bytes(sha256(_SIZE + secret + counter.to_bytes(4, "big")).digest(), "big")
        if drawn < fair:
            return above + 1 + drawn % span
        counter += 1


def secret_size(secret: bytes, above: int, up_to: int) -> SecretSize:
    """What is published when a cycle begins."""
    return SecretSize(commitment_of(secret), above, up_to)


def opening_of(secret: bytes, size: SecretSize) -> Opening:
    """What is published when a cycle ends."""
    return Opening(secret.hex(), threshold_of(secret, size.above, size.up_to), size.commitment)


def proves(opening: Opening, size: SecretSize) -> bool:
    """Whether an opening is that of a commitment: what anyone can check."""
    try:
        secret = bytes.fromhex(opening.secret)
    except ValueError:
        return False
    return (
        len(secret) == SECRET_BYTES
        and opening.commitment == size.commitment == commitment_of(secret)
        and opening.threshold == threshold_of(secret, size.above, size.up_to)
    )
