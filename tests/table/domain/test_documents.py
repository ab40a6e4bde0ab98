"""The pages about the table say what the code says."""

from __future__ import annotations

import re
from pathlib import Path

from tools import event_schemas
from tools.generate_table_event_docs import PAGE, page
from upcard_table.domain.events import EVENT_TYPES

ROOT = Path(__file__).parents[3]
DOMAIN = ROOT / "services" / "table" / "src" / "upcard_table" / "domain"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tools.generate_table_event_docs`"


def test_the_schemas_are_up_to_date() -> None:
    differing = event_schemas.outdated("table", EVENT_TYPES)
    assert differing == [], "run `python -m tools.generate_table_event_docs`"


def test_the_page_has_every_event() -> None:
    text = page()
    assert all(f"## {name}, version {version}" in text for name, (version, _) in EVENT_TYPES.items())


def test_every_refusal_of_a_table_is_explained() -> None:
    code = "".join((DOMAIN / name).read_text(encoding="utf-8") for name in ("decide.py", "config.py"))
    slugs = set(re.findall(r'refuse\(\s*"([a-z_]+)"', code))
    assert slugs
    text = (ROOT / "docs" / "table.md").read_text(encoding="utf-8")
    assert {slug for slug in slugs if f"`{slug}`" not in text} == set()
