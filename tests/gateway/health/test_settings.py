"""The settings of the operations pages say what is wrong with them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from tests.gateway.world import NOBODY, settings_of

DSN = f"postgresql://nobody@{NOBODY}/none"


def test_addresses_are_by_service_with_every_instance() -> None:
    found = settings_of(DSN, metrics_addresses={"table": ["t1:9000", "[::1]:9001"]})
    assert found.metrics_addresses == {"table": ("t1:9000", "[::1]:9001")}
    assert settings_of(DSN).metrics_addresses == {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"Table": ["t1:9000"]}, "has to be a service"),
        ({"table": ["t1"]}, "each host:port"),
        ({"table": ["http://t1:9000"]}, "each host:port"),
        ({"table": [f"t{number}:9000" for number in range(65)]}, "at most 64"),
    ],
)
def test_what_is_no_address_is_refused(given: dict[str, list[str]], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        settings_of(DSN, metrics_addresses=given)
