"""A round as one HTML page for its player: cards, choices, and why each wager ended as it did, in words.

No script, nothing loaded from elsewhere, light and dark; readable by a screen reader. It names nobody.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from upcard_gateway.app.boards_text import amount_text
from upcard_gateway.app.rounds import Box, Detail, Played, Wager

_STYLE: Final = """
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 22%, transparent); }
body { background: light-dark(#f3f5f7, #11161b); color: light-dark(#17202a, #e6ebf0);
  font: 1rem/1.5 system-ui, "DejaVu Sans", sans-serif; margin: 0 auto; max-width: 46rem; padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0.5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 0 0 0.5rem; }
section { background: light-dark(#fff, #1a2128); border: 1px solid var(--line); border-radius: 0.5rem;
  margin: 0.75rem 0; padding: 0.75rem 1rem; }
section p { margin: 0.4rem 0; }
.sum { border-left: 0.3rem solid var(--line); }
.won { border-left-color: light-dark(#0a6b3d, #63d192); }
.lost { border-left-color: light-dark(#a8141f, #ff8a8f); }
.cards { display: flex; flex-wrap: wrap; gap: 0.35rem; list-style: none; margin: 0.5rem 0; padding: 0; }
.cards li { background: #fff; border: 1px solid #888; border-radius: 0.4rem; color: #111; font-size: 1.25rem;
  font-weight: 700; min-width: 2.6rem; padding: 0.5rem 0.2rem; text-align: center; }
.cards .red { color: #b00020; }
.cards .back { background: #24507a; color: #fff; }
table { border-collapse: collapse; margin: 0.5rem 0; width: 100%; }
tr:last-child > * { border-bottom: 0; }
th, td { border-bottom: 1px solid var(--line); padding: 0.35rem 0 0.35rem 0.8rem; text-align: right; }
th:first-child { font-weight: 500; padding-left: 0; text-align: left; }
td { font-variant-numeric: tabular-nums; white-space: nowrap; }
footer { font-size: 0.8rem; margin-top: 1.5rem; opacity: 0.75; }
"""
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

CONTENT_SECURITY_POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'"
)
"""What a browser may do with the page: show it. It may stand in a frame of the platform's."""

_RANKS: Final = {
    **dict(zip("23456789", ("two", "three", "four", "five", "six", "seven", "eight", "nine"), strict=True)),
    "T": "ten",
    "J": "jack",
    "Q": "queen",
    "K": "king",
    "A": "ace",
}
_SUITS: Final = {"c": ("♣", "clubs"), "d": ("♦", "diamonds"), "h": ("♥", "hearts"), "s": ("♠", "spades")}
_WAGERS: Final = {
    "ante": "Ante",
    "bet": "Bet",
    "option_fee": "Price of the option",
    "insurance": "Insurance",
    "purchase_fee": "Price of the dealer's card",
    "bonus_player": "Bonus B",
    "bonus_dealer": "Bonus D",
}
_CANCELLED: Final = "The round was cancelled: every wager and fee of it went back."
_OPEN: Final = "The round has not ended yet. What was dealt to you alone is shown here when it has."


def round_page(detail: Detail) -> str:
    """The page. Every text in it is escaped."""
    return _page(f"Round {detail.played.round}", _round(detail))


def message_page(title: str, sentence: str) -> str:
    """A page that says one thing."""
    return _page(title, (f"<p>{escape(sentence)}</p>\n",))


def _page(title: str, body: Iterable[str]) -> str:
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="robots" content="noindex">\n<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n'
        f"</head>\n<body>\n<main>\n<h1>{escape(title)}</h1>\n"
    )
    return "".join((head, *body, "</main>\n</body>\n</html>\n"))


def _round(detail: Detail) -> Iterator[str]:
    played = detail.played
    when = played.opened_at.strftime("%d %B %Y, %H:%M:%S UTC").lstrip("0")
    yield f"<p>Table {escape(played.table)}, {when}</p>\n"
    if played.state == "cancelled":
        yield f"<p>{_CANCELLED}</p>\n"
    if played.state == "open":
        yield f"<p>{_OPEN}</p>\n"
    if played.revision > 1:
        yield "<p>The result was corrected; this is the corrected one.</p>\n"
    yield from _in_all(played)
    for parts in (_dealer(detail), _shared(detail), *(_box(box, detail) for box in detail.boxes)):
        yield from _section(parts)
    yield f"<footer>Played by the rules {escape(played.ruleset)}.</footer>\n"


def _in_all(played: Played) -> Iterator[str]:
    """What it came to, before everything else."""
    net = played.net or 0
    tone = " won" if net > 0 else " lost" if net < 0 else ""
    yield f'<section class="sum{tone}">\n<h2>In all</h2>\n<table>\n'
    yield _row("Staked", amount_text(played.staked, played.currency))
    if played.returned is not None and played.net is not None:
        yield _row("Returned, stakes included", amount_text(played.returned, played.currency))
        yield _row("Won" if net >= 0 else "Lost", amount_text(abs(net), played.currency))
    yield "</table>\n</section>\n"


def _section(parts: Iterator[str]) -> Iterator[str]:
    """A part of the page with a border; nothing where there is nothing in it."""
    first = next(parts, None)
    if first is not None:
        yield from ("<section>\n", first, *parts, "</section>\n")


def _dealer(detail: Detail) -> Iterator[str]:
    dealt = [detail.cards[f"dealer.{place}"] for place in range(5) if f"dealer.{place}" in detail.cards]
    if not dealt:
        return
    yield "<h2>Dealer</h2>\n"
    yield _cards(dealt)
    drawn = [detail.cards[f"draw.{place}"] for place in range(2) if f"draw.{place}" in detail.cards]
    if drawn:
        yield f"<p>Bought for the dealer:</p>\n{_cards(drawn)}"
    yield from _sentences(detail.words)


def _shared(detail: Detail) -> Iterator[str]:
    """Cards that boxes of a shared table may have bought."""
    laid = [detail.cards[f"switch.{place}"] for place in range(5) if f"switch.{place}" in detail.cards]
    if laid:
        yield f"<h2>Switch cards</h2>\n{_cards(laid)}"


def _box(box: Box, detail: Detail) -> Iterator[str]:
    currency = detail.played.currency
    yield f"<h2>Box {box.box}</h2>\n"
    yield _cards(box.cards)
    places = [f"replacement.{box.box}.{place}" for place in range(5)]
    bought = [detail.cards[place] for place in places if place in detail.cards]
    if bought:
        yield f"<p>Bought:</p>\n{_cards(bought)}"
    yield from _sentences(box.words)
    yield '<table>\n<tr><th scope="col">Wager</th><th scope="col">Staked</th>'
    yield '<th scope="col">Returned</th></tr>\n'
    for wager in box.wagers:
        yield _wager(wager, currency)
    yield "</table>\n"


def _wager(wager: Wager, currency: str) -> str:
    name = _WAGERS.get(wager.wager, wager.wager)
    returned = "" if wager.returned is None else amount_text(wager.returned, currency)
    stake = amount_text(wager.stake, currency)
    return (
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(stake)}</td><td>{escape(returned)}</td></tr>\n'
    )


def _row(name: str, value: str) -> str:
    return f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>\n'


def _sentences(words: Iterable[str]) -> Iterator[str]:
    for sentence in words:
        yield f"<p>{escape(sentence)}</p>\n"


def _cards(cards: Iterable[str]) -> str:
    shown = "".join(map(_card, cards))
    return f'<ul class="cards">{shown}</ul>\n'


def _card(card: str) -> str:
    rank, suit = card[:1], _SUITS.get(card[1:])
    if rank not in _RANKS or suit is None:
        return '<li class="back" aria-label="a hidden card">?</li>'
    sign, name = suit
    red = ' class="red"' if name in {"diamonds", "hearts"} else ""
    return f'<li{red} aria-label="{_RANKS[rank]} of {name}">{"10" if rank == "T" else rank}{sign}</li>'
