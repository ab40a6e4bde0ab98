"""A refusal for reasons of business: a value with a slug. Nothing was changed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refused:
    """Why not."""

    reason: str
    """A slug; docs/bonus.md lists them by call."""
