"""English of pages: every word of them lies in pages/english/<area>.json and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

__all__ = ["English", "NoSuchText"]

_PLURALS: Final = frozenset({"one", "other"})


class NoSuchText(KeyError):
    """There is no text of this key, or a value that stands in it was not given."""


class English:
    """All texts, by "area.key". A text is one string, or `{"one": …, "other": …}` chosen by the value `n`."""

    def __init__(self, texts: Mapping[str, str | Mapping[str, str]]) -> None:
        self._texts = texts

    @classmethod
    def load(cls) -> English:
        """The texts of this package. Raises ValueError for a file that is not such texts."""
        texts: dict[str, str | Mapping[str, str]] = {}
        for file in sorted(
            (files("upcard_gateway") / "pages" / "english").iterdir(), key=lambda one: one.name
        ):
            if file.name.endswith(".json"):
                texts.update(_flat(file.name.removesuffix(".json"), json.loads(file.read_text("utf-8"))))
        return cls(texts)

    def __call__(self, key: str, **values: object) -> str:
        """The text of a key, its `{name}` places filled. Raises NoSuchText: the page has a mistake."""
        found = self._texts.get(key)
        if found is None:
            raise NoSuchText(key)
        if not isinstance(found, str):
            found = found["one" if values.get("n") == 1 else "other"]
        try:
            return found.format_map(values)
        except KeyError as error:
            raise NoSuchText(f"{key}: {error.args[0]} is not given") from None

    def has(self, key: str) -> bool:
        """Whether there is such a text."""
        return key in self._texts

    def part(self, prefix: str) -> dict[str, str]:
        """The plain texts whose keys begin with `prefix.`, without it: for a script, as data."""
        start = f"{prefix}."
        return {
            key.removeprefix(start): text
            for key, text in self._texts.items()
            if key.startswith(start) and isinstance(text, str)
        }


def _flat(prefix: str, found: Any) -> dict[str, str | Mapping[str, str]]:  # noqa: ANN401 - parsed JSON
    if not isinstance(found, dict):
        raise ValueError(f"english: {prefix} has to be an object of texts")  # noqa: TRY004 - what a file has
    flat: dict[str, str | Mapping[str, str]] = {}
    for key, text in found.items():
        name = f"{prefix}.{key}"
        if isinstance(text, str) or (isinstance(text, dict) and set(text) == _PLURALS):
            flat[name] = text
        else:
            flat.update(_flat(name, text))
    return flat
