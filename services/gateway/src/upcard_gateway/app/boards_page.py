"""The rules of a table as one HTML page: no script, nothing loaded from elsewhere, light and dark."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from typing import Final

from upcard_gateway.app.boards_text import RulesText, TextSection, TextTable

_STYLE: Final = """
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 22%, transparent); }
body { background: light-dark(#f3f5f7, #11161b); color: light-dark(#17202a, #e6ebf0);
  font: 1rem/1.5 system-ui, "DejaVu Sans", sans-serif; margin: 0 auto; max-width: 50rem; padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0.5rem 0 0; }
h1 + p { margin: 0; opacity: 0.75; }
h2 { font-size: 1.2rem; margin: 0 0 0.5rem; }
nav ul { columns: 2 14rem; list-style: none; margin: 1rem 0; padding: 0; }
nav a { color: light-dark(#075e9c, #7cc0f5); display: inline-block; padding: 0.15rem 0; }
section { background: light-dark(#fff, #1a2128); border: 1px solid var(--line); border-radius: 0.5rem;
  margin: 0.75rem 0; padding: 0.9rem 1.1rem; scroll-margin-top: 1rem; }
section > ul { margin: 0; padding-left: 1.2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 0.75rem 0 0.5rem; min-width: 60%; }
caption { font-weight: 600; padding: 0.25rem 0; text-align: left; }
th, td { border-bottom: 1px solid var(--line); text-align: left; padding: 0.3rem 1rem 0.3rem 0;
  vertical-align: top; }
thead th { font-size: 0.875rem; opacity: 0.75; }
tbody th { font-weight: 500; }
tbody tr:last-child > * { border-bottom: 0; }
td { font-variant-numeric: tabular-nums; }
footer { font-size: 0.8rem; margin-top: 2rem; opacity: 0.75; overflow-wrap: anywhere; }
"""
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

CONTENT_SECURITY_POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'"
)
"""What a browser may do with the page: show it. It may stand in a frame of the platform's."""


def rules_page(rules: RulesText) -> str:
    """The page. Every text in it is escaped; a table's name is whatever the floor has typed."""
    return "".join(_page(rules))


def _page(rules: RulesText) -> Iterator[str]:
    name, title = escape(rules.name), escape(rules.title)
    yield f'<!doctype html>\n<html lang="{escape(rules.language)}">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>{name}: {title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
    yield f"<h1>{name}</h1>\n<p>{title}</p>\n"
    yield "<nav><ul>\n"
    for section in rules.sections:
        yield f'<li><a href="#{escape(section.code)}">{escape(section.title)}</a></li>\n'
    yield "</ul></nav>\n"
    for section in rules.sections:
        yield from _section(section)
    yield f"</main>\n<footer>{escape(rules.ruleset)}, SHA-256 {escape(rules.sha256)}</footer>\n"
    yield "</body>\n</html>\n"


def _section(section: TextSection) -> Iterator[str]:
    yield f'<section id="{escape(section.code)}">\n<h2>{escape(section.title)}</h2>\n'
    if section.sentences:
        yield "<ul>\n"
        for sentence in section.sentences:
            yield f"<li>{escape(sentence.text)}</li>\n"
        yield "</ul>\n"
    for table in section.tables:
        yield from _table(table)
    yield "</section>\n"


def _table(table: TextTable) -> Iterator[str]:
    yield f'<div class="wide"><table>\n<caption>{escape(table.title)}</caption>\n<thead><tr>'
    for column in table.columns:
        yield f'<th scope="col">{escape(column)}</th>'
    yield "</tr></thead>\n<tbody>\n"
    for row in table.rows:
        first, *others = row
        yield f'<tr><th scope="row">{escape(first)}</th>'
        for cell in others:
            yield f"<td>{escape(cell)}</td>"
        yield "</tr>\n"
    yield "</tbody>\n</table></div>\n"
