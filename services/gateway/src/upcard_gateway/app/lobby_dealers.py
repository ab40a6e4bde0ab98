"""What players call the dealers: the first word of a member's name, unless the settings say otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

__all__ = ["DealerNames", "first_word"]

_LONGEST: Final = 64


class DealerNames(Mapping[str, str]):
    """Names that players see, by a dealer's id: those of the settings, and staff's as they were read last."""

    def __init__(self, chosen: Mapping[str, str]) -> None:
        """`chosen`: the settings' own, which come before all others."""
        self._chosen = chosen
        self._now = dict(chosen)

    def learn(self, names: Mapping[str, str]) -> None:
        """Dealers' whole names, by their ids, replace all that were learnt before."""
        shown = {dealer: first_word(name) for dealer, name in names.items()}
        self._now = {dealer: name for dealer, name in shown.items() if name} | dict(self._chosen)

    def __getitem__(self, dealer: str) -> str:
        return self._now[dealer]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now)

    def __len__(self) -> int:
        return len(self._now)


def first_word(name: str) -> str:
    """What of a name players see: nobody has to know how a dealer is called at home."""
    return next(iter(name.split()), "")[:_LONGEST]
