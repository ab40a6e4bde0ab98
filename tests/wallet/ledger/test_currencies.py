from __future__ import annotations

import pytest

from upcard_wallet.domain.currencies import decimal_text


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (0, "EUR", "0.00"),
        (5, "EUR", "0.05"),
        (-1234, "EUR", "-12.34"),
        (1234, "JPY", "1234"),
        (-7, "JPY", "-7"),
        (1, "KWD", "0.001"),
        (123456, "CLF", "12.3456"),
    ],
)
def test_amounts_are_written_with_their_currencys_minor_units(amount: int, currency: str, text: str) -> None:
    assert decimal_text(amount, currency) == text
