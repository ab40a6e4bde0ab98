"""Commitments to face-down cards: CONTRACTS.md section 2, Face-down cards."""

from __future__ import annotations

import pytest

from rules_core.cards import CARD_TEXTS
from rules_core.commitment import commitment, opens

SALT = bytes(range(16))
# Made with sha256sum over the 18 bytes.
ACE_OF_HEARTS = "b91455f74736021e30c52a21ecaa1c7d41c12ab71a15bd6b831cd0c0264ad00c"


def test_commitment_is_the_hash_of_card_salt_and_card() -> None:
    assert commitment("Ah", SALT) == ACE_OF_HEARTS
    assert opens(ACE_OF_HEARTS, "Ah", SALT.hex())


def test_a_commitment_opens_to_one_card_only() -> None:
    for card in CARD_TEXTS:
        made = commitment(card, SALT)
        assert [other for other in CARD_TEXTS if opens(made, other, SALT.hex())] == [card]
        assert not opens(made, card, bytes(16).hex())


@pytest.mark.parametrize(
    ("made", "card", "salt"),
    [
        (ACE_OF_HEARTS.upper(), "Ah", SALT.hex()),
        (ACE_OF_HEARTS[:-1], "Ah", SALT.hex()),
        ("", "Ah", SALT.hex()),
        (ACE_OF_HEARTS, "ah", SALT.hex()),
        (ACE_OF_HEARTS, "", SALT.hex()),
        (ACE_OF_HEARTS, "Ah", ""),
        (ACE_OF_HEARTS, "Ah", SALT.hex().upper()),
        (ACE_OF_HEARTS, "Ah", SALT.hex() + "\n"),
        (ACE_OF_HEARTS, "Ah", "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f"),
        # The same 18 bytes, cut elsewhere.
        (ACE_OF_HEARTS, "h", SALT.hex() + "41"),
        (ACE_OF_HEARTS, "\x0fAh", SALT.hex()[:-2]),
    ],
)
def test_anything_malformed_opens_nothing(made: str, card: str, salt: str) -> None:
    assert not opens(made, card, salt)


@pytest.mark.parametrize(
    ("card", "salt"), [("1h", SALT), ("", SALT), ("Ahh", SALT), ("Ah", b""), ("Ah", bytes(15))]
)
def test_no_commitment_is_made_that_could_not_be_opened(card: str, salt: bytes) -> None:
    with pytest.raises(ValueError, match=r"^a commitment needs a card and a card salt of 16 bytes$"):
        commitment(card, salt)
