"""Plots as pictures: SVG in a data address, one for light pages and one for dark, no script in them."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pygal  # type: ignore[import-untyped]  # it has no types
from pygal.style import Style  # type: ignore[import-untyped]  # likewise

__all__ = ["Plot", "Series", "plotted"]

# pygal looks for plug-ins with a finder of a kind that Python warns of, at each import, or does not ask.
sys.meta_path[:] = [one for one in sys.meta_path if type(one).__module__ != "pygal"]

Theme = Literal["light", "dark"]

_FONT: Final = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
_MOST_LABELS: Final = 8
_SCRIPTS: Final = re.compile(rb"<script\b.*?</script>", re.DOTALL)
"""A picture runs none; what pygal writes into every file is left out."""
_DARK: Final = {"text": "#c3ced8", "strong": "#e6ebf0", "line": "#3a4753"}
_LIGHT: Final = {"text": "#44505c", "strong": "#17202a", "line": "#d5dbe1"}
# Told apart by lightness too, not by hue alone.
_COLOURS: Final[dict[Theme, tuple[str, ...]]] = {
    "light": ("#0a6b50", "#d98600", "#155e8f"),
    "dark": ("#3fbf95", "#f1b655", "#86c5f4"),
}


@dataclass(frozen=True, slots=True)
class Series:
    """A line or a row of bars. None: nothing is known there."""

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot as two pictures, by theme, and what it shows in words."""

    light: str
    dark: str
    text: str


def plotted(
    kind: Literal["bars", "line", "rows"],
    labels: Sequence[str],
    series: Sequence[Series],
    *,
    text: str,
    shown: Callable[[float], str],
    colour: int = 0,
) -> Plot:
    """A plot of these series; `shown` writes the values, `text` says what it is to who cannot see it."""
    light, dark = (_picture(kind, labels, series, shown, theme, colour) for theme in ("light", "dark"))
    return Plot(light, dark, text)


def _picture(
    kind: str,
    labels: Sequence[str],
    series: Sequence[Series],
    shown: Callable[[float], str],
    theme: Any,  # noqa: ANN401 - one of the two, which a generator does not tell
    colour: int,
) -> str:
    chart: Any = {"bars": pygal.Bar, "line": pygal.Line, "rows": pygal.HorizontalBar}[kind](
        **_how(kind, labels, series, shown, theme, colour)
    )
    chart.x_labels = list(labels)
    if kind != "rows":
        step = -(-len(labels) // _MOST_LABELS) if labels else 1
        chart.x_labels_major = list(labels)[::step]
    for one in series:
        chart.add(one.name, list(one.values), allow_interruptions=True)
    svg: bytes = _SCRIPTS.sub(b"", chart.render())
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


def _how(
    kind: str,
    labels: Sequence[str],
    series: Sequence[Series],
    shown: Callable[[float], str],
    theme: Theme,
    colour: int,
) -> dict[str, Any]:
    ink = _DARK if theme == "dark" else _LIGHT
    colours = _COLOURS[theme]
    style = Style(
        background="transparent",
        plot_background="transparent",
        foreground=ink["text"],
        foreground_strong=ink["strong"],
        foreground_subtle=ink["line"],
        guide_stroke_color=ink["line"],
        major_guide_stroke_color=ink["line"],
        guide_stroke_dasharray="2,4",
        major_guide_stroke_dasharray="",
        opacity="1",
        colors=(*colours[colour:], *colours[:colour]),
        font_family=_FONT,
        label_font_size=13,
        major_label_font_size=13,
        legend_font_size=13,
        stroke_width=2.5,
    )
    return {
        "style": style,
        "js": [],
        "width": 640,
        "height": max(150, 60 + 30 * len(labels)) if kind == "rows" else 230,
        "explicit_size": False,
        "show_legend": len(series) > 1,
        "legend_at_bottom": True,
        "legend_box_size": 12,
        "margin": 6,
        "spacing": 8,
        "show_minor_x_labels": False,
        "show_y_guides": kind != "rows",
        "show_x_guides": kind == "rows",
        "dots_size": 2.5,
        "include_x_axis": kind != "line",
        "truncate_label": 24,
        "x_label_rotation": 0,
        "y_labels_major_count": 4,
        "show_minor_y_labels": kind == "rows",
        "value_formatter": shown,
        "disable_xml_declaration": False,
        "no_data_text": "",
        "print_values": False,
        "pretty_print": False,
        "rounded_bars": 2,
    }
