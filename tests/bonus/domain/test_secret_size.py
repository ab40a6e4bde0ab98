"""The secret size is in its range, fair, and provable by anyone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upcard_bonus.domain.secret_size import (
    SECRET_BYTES,
    commitment_of,
    opening_of,
    proves,
    secret_size,
    threshold_of,
)

SECRETS = st.binary(min_size=SECRET_BYTES, max_size=SECRET_BYTES)


@given(SECRETS, st.integers(0, 10**12), st.integers(1, 10**12))
def test_it_lies_above_the_one_and_at_most_at_the_other(secret: bytes, above: int, span: int) -> None:
    assert above < threshold_of(secret, above, above + span) <= above + span


def test_each_amount_is_as_likely() -> None:
    sizes = Counter(threshold_of(sha256(bytes([n % 256, n // 256])).digest(), 10, 16) for n in range(6_000))
    assert set(sizes) == {11, 12, 13, 14, 15, 16}
    assert all(850 < number < 1_150 for number in sizes.values())


def test_it_is_made_as_the_document_says() -> None:
    secret = bytes(range(32))
    assert commitment_of(secret) == sha256(b"upcard jackpot commitment v1\0" + secret).hexdigest()
    drawn = int.from_bytes(sha256(b"upcard jackpot size v1\0" + secret + bytes(4)).digest(), "big")
    assert threshold_of(secret, 1_000, 1_777) == 1_001 + drawn % 777


def test_a_draw_that_would_favour_some_amounts_is_drawn_again() -> None:
    span = 2**255 + 1  # only the lower half of all draws is fair

    def draws(secret: bytes) -> Iterator[int]:
        for counter in range(100):
            digest = sha256(b"upcard jackpot size v1\0" + secret + counter.to_bytes(4, "big")).digest()
            yield int.from_bytes(digest, "big")

    again = 0
    for number in range(20):
        secret = bytes([number]) * SECRET_BYTES
        first_fair = next(drawn for drawn in draws(secret) if drawn < span)
        again += next(draws(secret)) >= span
        assert threshold_of(secret, 0, span) == 1 + first_fair
    assert again, "some were drawn again"


def test_an_empty_range_has_none() -> None:
    with pytest.raises(ValueError, match="no amount is above 5"):
        threshold_of(bytes(32), 5, 5)


@given(SECRETS, SECRETS)
def test_an_opening_proves_its_own_commitment_alone(secret: bytes, other: bytes) -> None:
    size = secret_size(secret, 100, 10_000)
    opening = opening_of(secret, size)
    assert proves(opening, size)
    assert not proves(replace(opening, threshold=opening.threshold + 1), size)
    assert not proves(replace(opening, secret="zz" * SECRET_BYTES), size)
    assert not proves(replace(opening, secret=opening.secret[2:]), size)
    assert not proves(opening, secret_size(secret, 100, 10_000_000_000))
    if other != secret:
        assert not proves(opening, secret_size(other, 100, 10_000))
        assert not proves(opening_of(other, size), size)
