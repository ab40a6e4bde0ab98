"""What is written about the players' connection is what it says."""

from __future__ import annotations

import json
from pathlib import Path

from tools.generate_play_asyncapi import FILE, rendered
from upcard_gateway.entrypoints.play.texts import RESUMABLE, ended_reasons

PAGE = Path(FILE).with_name("play.md").read_text(encoding="utf-8")


def test_the_asyncapi_is_up_to_date_and_every_reference_leads_somewhere() -> None:
    assert FILE.read_text(encoding="utf-8") == rendered()
    document = json.loads(rendered())
    found: list[str] = []

    def look(value: object) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                found.append(value["$ref"])
            for one in value.values():
                look(one)
        elif isinstance(value, list):
            for one in value:
                look(one)

    look(document)
    assert len(found) > 50
    for reference in found:
        place = document
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]


def test_every_reason_of_an_end_is_written_down() -> None:
    lines = [one for one in PAGE.splitlines() if "| yes |" in one or "| no |" in one]
    for reason in ended_reasons():
        line = next(one for one in lines if f"`{reason}`" in one)
        assert ("| yes |" in line) == (reason in RESUMABLE), reason
