"""The rules of a table in words: plain text for each sentence and cell, of which JSON and HTML are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from upcard_gateway.app import boards_english as english
from upcard_gateway.app.boards_rules import Rules, Said
from upcard_gateway.app.boards_tables import Amount, Both, Odds, RuleTable, Value, Word
from upcard_seamless.currencies import minor_digits


@dataclass(frozen=True, slots=True)
class TextSentence:
    """A sentence; `code` stays the same whatever the words become."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table in words."""

    code: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class TextSection:
    """A section in words."""

    code: str
    title: str
    sentences: tuple[TextSentence, ...]
    tables: tuple[TextTable, ...]


@dataclass(frozen=True, slots=True)
class RulesText:
    """The rules of a table in words."""

    table: str
    name: str
    ruleset: str
    title: str
    """The ruleset's own name."""
    sha256: str
    """Of the ruleset, as rounds record it."""
    language: str
    sections: tuple[TextSection, ...]


def in_words(rules: Rules) -> RulesText:
    """The rules in English. Raises KeyError for what the catalogue lacks: a test asks for all of it."""
    return RulesText(
        table=rules.table,
        name=rules.name,
        ruleset=rules.ruleset.id,
        title=rules.ruleset.title,
        sha256=rules.ruleset.sha256,
        language=english.LANGUAGE,
        sections=tuple(
            TextSection(
                section.code,
                english.TITLES[section.code],
                tuple(TextSentence(said.code, _sentence(said)) for said in section.sentences),
                tuple(map(_table, section.tables)),
            )
            for section in rules.sections
        ),
    )


def amount_text(amount: int, currency: str) -> str:
    """Money as people read it.

    >>> amount_text(-1234, "EUR"), amount_text(1234, "JPY")
    ('-12.34 EUR', '1234 JPY')
    """
    digits = minor_digits(currency)
    text = str(abs(amount)).rjust(digits + 1, "0")
    whole = f"{text[:-digits]}.{text[-digits:]}" if digits else text
    return f"{'-' if amount < 0 else ''}{whole} {currency}"


def _sentence(said: Said) -> str:
    words: dict[str, str] = {}
    for name, value in said.values:
        words[name] = _text(value)
        if name in english.NUMBERED and isinstance(value, int):
            beside, forms = english.NUMBERED[name]
            words[beside] = forms.split("|")[value != 1]
    return english.SENTENCES[said.code].format_map(words)


def _table(table: RuleTable) -> TextTable:
    name, _, detail = table.code.partition(":")
    return TextTable(
        table.code,
        english.TABLES[name].format(detail=detail),
        tuple(english.COLUMNS[column] for column in table.columns),
        tuple(tuple(map(_text, row)) for row in table.rows),
    )


def _text(value: Value) -> str:  # noqa: PLR0911 - a line for each kind of value
    match value:
        case None:
            return ""
        case str():
            return value
        case int():
            return str(value)
        case Odds(to_one=odds):
            return english.TO_ONE.format(odds=odds)
        case Amount(minor=minor, currency=currency):
            return amount_text(minor, currency)
        case Both(first=hand, second=Word(kind="rank") as rank):
            return english.RANKED[hand.name].format(rank=_text(rank))
        case Both(first=first, second=second):
            return english.BOTH.format(first=_text(first), second=_text(second))
        case Word(kind="share", name=percent):
            return english.SHARE_OF_JACKPOT.format(percent=percent)
        case Word(kind=kind, name=name):
            return english.WORDS[kind][name]
        case _:
            assert_never(value)
