"""The lobby's settings are read from the environment, and refused where they cannot be meant."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from upcard_gateway.settings.lobby import LobbySettings


def test_without_any_there_are_usual_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANGUAGES", "TABLE_LANGUAGES", "DEALER_NAMES", "LOBBY_FRESH_S"):
        monkeypatch.delenv(f"UPCARD_{name}", raising=False)
    settings = LobbySettings()
    assert (settings.languages, settings.table_languages, settings.dealer_names) == (("en",), {}, {})
    assert settings.lobby_fresh_s < settings.lobby_stale_max_s


def test_they_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPCARD_LANGUAGES", "en,pt-BR")
    monkeypatch.setenv("UPCARD_TABLE_LANGUAGES", '{"t1": ["de"]}')
    monkeypatch.setenv("UPCARD_DEALER_NAMES", '{"d1": "Ana"}')
    settings = LobbySettings()
    assert settings.languages == ("en", "pt-BR")
    assert settings.table_languages == {"t1": ("de",)}
    assert settings.dealer_names == {"d1": "Ana"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("UPCARD_LANGUAGES", "english please"),
        ("UPCARD_LANGUAGES", "en,en"),
        ("UPCARD_TABLE_LANGUAGES", '{"t1": []}'),
        ("UPCARD_DEALER_NAMES", '{"d1": ""}'),
        ("UPCARD_DEALER_NAMES", '{"d1": "\\u0007"}'),
        ("UPCARD_LOBBY_FRESH_S", "0"),
        ("UPCARD_LOBBY_STALE_MAX_S", "nan"),
        ("UPCARD_LOBBY_RESULTS", "51"),
    ],
)
def test_wrong_ones_are_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError):
        LobbySettings()
