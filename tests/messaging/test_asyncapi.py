from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from faststream.specification.asyncapi.v3_0_0.schema import ApplicationSchema

from eventstore.following import DeadLetter
from messaging.asyncapi import document, main, text
from messaging.dead_letters.letters import dead_letter_headers
from messaging.envelope import Headers, headers_of
from messaging.topics import dead_letter_topic_of, topic_of
from tests.messaging.test_envelope import an_event

COMMITTED = Path(__file__).parents[2] / "docs" / "asyncapi.json"


def _valid(message: str, headers: Headers) -> None:
    schema = document()["components"]["messages"][message]["headers"]
    jsonschema.validate(
        {name: value.decode() for name, value in headers}, schema, format_checker=jsonschema.FormatChecker()
    )


def test_the_committed_document_is_what_the_code_says() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == text()


def test_it_is_an_asyncapi_document() -> None:
    ApplicationSchema.model_validate(document())
    assert _references(document()) <= _places(document())


def test_the_headers_that_are_sent_are_those_described() -> None:
    event = an_event()
    _valid("event", headers_of(event, "table", 3))
    now = dt.datetime.now(dt.UTC)
    letter = DeadLetter(event, 3, "refused", "cannot be", now, now)
    _valid("deadLetter", dead_letter_headers(letter, "wallet", "table"))
    with pytest.raises(jsonschema.ValidationError):
        _valid("event", [("ce_specversion", b"1.0")])


def test_the_topics_are_those_described() -> None:
    channels = document()["channels"]
    assert channels["events"]["address"].format(service="table") == topic_of("table")
    letters = channels["deadLetters"]["address"].format(service="table")
    assert letters == dead_letter_topic_of(topic_of("table"))


def test_a_document_that_differs_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "asyncapi.json"
    assert main([str(file), "--check"]) == 1
    assert main([str(file)]) == 0
    assert main([str(file), "--check"]) == 0
    file.write_text(file.read_text(encoding="utf-8").replace("604800000", "604800001"), encoding="utf-8")
    assert main([str(file), "--check"]) == 1
    assert "is not what the code says" in capsys.readouterr().err
    json.loads(text())


def _references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if "$ref" in value else set()
        return own.union(*map(_references, value.values()))
    return set().union(*map(_references, value)) if isinstance(value, list) else set()


def _places(value: Any, at: str = "#") -> set[str]:
    if not isinstance(value, dict):
        return {at}
    return {at}.union(*(_places(inner, f"{at}/{name}") for name, inner in value.items()))
