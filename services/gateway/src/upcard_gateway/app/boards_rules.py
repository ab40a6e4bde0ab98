"""The rules of a table as sentences and tables, chosen and filled by its ruleset and its settings.

This says *what* holds, as slugs with values; `boards_english` has the words. Whatever the ruleset or the
table knows is read from it. Numbers of sections are those of RULES.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from rules_core.hands import HAND_NAMES
from rules_core.round.decide.ending import CANCEL_REASONS
from rules_core.rulesets.model import InsuranceRules, PurchaseRules, Ruleset
from upcard_gateway.app.boards import ANTES_A_BET, LimitsBoard, PayoutsBoard, box_kinds
from upcard_gateway.app.boards_tables import (
    RuleTable,
    Value,
    Word,
    bonus_table,
    doubles_table,
    limits_table,
    odds_table,
    outcome_tables,
)
from upcard_gateway.app.lobby_tables import TableNow

LOWEST_GAME: Final = "ace_king"
"""With this or better the dealer has a game (section 1)."""
LOWEST_INSURED: Final = "three_of_a_kind"
"""With this or better a box may be insured (section 5)."""
SWITCH_CARDS: Final = 5
"""So many are laid at a shared table (section 4.4)."""
_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence: its slug, and the values in it."""

    code: str
    values: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class RuleSection:
    """Some sentences and tables under one heading."""

    code: str
    sentences: tuple[Said, ...]
    tables: tuple[RuleTable, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a table, in the order in which a player reads them."""

    table: str
    name: str
    ruleset: Ruleset
    sections: tuple[RuleSection, ...]


Sentences = Iterator[Said]


def rules_of(table: TableNow, limits: LimitsBoard, payouts: PayoutsBoard) -> Rules:
    """The rules of a table, with the limits that are shown to whoever asks."""
    rules = table.ruleset
    plain: tuple[tuple[str, Callable[[TableNow], Sentences]], ...] = (
        ("table", _table),
        ("seating", _seating),
        ("betting", _betting),
        ("deal", _deal),
        ("options", _options),
        ("final_options", _final_options),
        ("showdown", _showdown),
        ("purchase", _purchase),
    )
    sections = [RuleSection(code, tuple(make(table))) for code, make in plain]
    sections[2] = RuleSection("betting", sections[2].sentences, tuple(limits_table(limits)))
    sections += [
        RuleSection("settlement", tuple(_settlement(table)), tuple(outcome_tables(rules))),
        RuleSection("payouts", tuple(_payouts(table)), (odds_table(payouts), doubles_table(payouts))),
        RuleSection("bonus", tuple(_bonus(payouts)), tuple(bonus_table(payouts))),
        RuleSection("cap", tuple(_cap(table, limits))),
        RuleSection("hands", (_said("hands_order"), _said("hands_ties")), (_hands_table(),)),
        RuleSection("mishaps", tuple(_mishaps())),
    ]
    shown = tuple(section for section in sections if section.sentences or section.tables)
    return Rules(table.table, table.name, rules, shown)


def _said(code: str, **values: Value) -> Said:
    return Said(code, tuple(values.items()))


def _table(table: TableNow) -> Sentences:
    rules = table.ruleset
    yield _said("game", boxes=rules.boxes)
    yield _said(f"table_{rules.table}")
    for box in range(1, rules.boxes + 1):
        kinds = box_kinds(rules, box)
        if len(kinds) == 1:
            yield _said(f"box_{kinds[0]}", box=box)
    if any(len(box_kinds(rules, box)) > 1 for box in range(1, rules.boxes + 1)):
        yield _said("box_any")


def _seating(table: TableNow) -> Sentences:
    seating = table.ruleset.seating
    yield _said("open_boxes_max", most=seating.open_boxes_max)
    if seating.blind_boxes_max is None:
        yield _said("blind_boxes_any")
    elif seating.blind_boxes_max:
        yield _said("blind_boxes_max", most=seating.blind_boxes_max)
    else:
        yield _said("blind_boxes_none")
    if seating.blind_needs_open_boxes:
        yield _said("blind_needs_open", open=seating.blind_needs_open_boxes)
    if seating.neighbours_only:
        yield _said("neighbours_only")
    if seating.equal_antes != "no":
        yield _said(f"equal_antes_{seating.equal_antes}")
    if not table.ruleset.shared:
        yield _said("first_bet_takes_box")


def _betting(table: TableNow) -> Sentences:
    yield _said("bet_is_antes", antes=ANTES_A_BET)
    if table.ruleset.seating.blind_boxes_max != 0:
        yield _said("blind_staked_at_once")
    yield _said("betting_time", seconds=_seconds(table.durations.betting_ms))
    yield _said("late_bets")
    yield _said("no_bet_no_round")
    if table.reserve_bet_with_ante:
        yield _said("bet_reserved")


def _deal(table: TableNow) -> Sentences:
    rules = table.ruleset
    yield _said("deal_shared" if rules.shared else "deal_exclusive")
    yield _said("deal_dealer")
    yield _said(f"open_cards_{rules.open_cards}")
    if rules.seating.blind_boxes_max != 0:
        yield _said("blind_cards")
    yield _said("deck_shuffled")


def _options(table: TableNow) -> Sentences:
    rules = table.ruleset
    if "options" not in rules.windows:
        return
    yield _said("options_shared" if rules.shared else "options_exclusive")
    yield _said("option_bet", antes=ANTES_A_BET)
    yield _said("option_sixth")
    yield _said("option_exchange", most=rules.exchange_max)
    yield _said("option_fold")
    yield _said("option_once")
    if rules.shared:
        yield _said("switch_cards", cards=SWITCH_CARDS)
    else:
        yield _said("drawn_from_deck")
        yield _said("deck_bounds")
    yield _said("options_time", seconds=_seconds(table.durations.options_ms))
    yield _said("options_passed")


def _final_options(table: TableNow) -> Sentences:
    rules = table.ruleset
    if "final_options" not in rules.windows:
        return
    yield _said("final_bet", antes=ANTES_A_BET)
    if rules.insurance is not None:
        yield from _insurance(rules.insurance)
    yield _said("final_time", seconds=_seconds(table.durations.final_options_ms))
    yield _said("final_passed", hand=Word("hand", LOWEST_GAME))


def _insurance(rules: InsuranceRules) -> Sentences:
    part = rules.fraction
    yield _said("insurance_who", hand=Word("hand", LOWEST_INSURED))
    if part.numerator == part.denominator:
        yield _said("insurance_whole")
    else:
        yield _said("insurance_part", numerator=part.numerator, denominator=part.denominator)
    yield _said("insurance_table_limit")
    yield _said("insurance_wins")
    yield _said(f"insurance_on_tie_{rules.on_tie}")
    yield _said(f"insurance_when_beaten_{rules.when_beaten}")
    yield _said(f"insured_ante_{rules.ante_on_no_game}")


def _showdown(table: TableNow) -> Sentences:
    yield _said("showdown_private" if table.ruleset.private else "showdown_public")
    yield _said("dealer_always_opens")
    yield _said("game_is", hand=Word("hand", LOWEST_GAME))


def _purchase(table: TableNow) -> Sentences:
    rules = table.ruleset
    if rules.purchase is None or "purchase" not in rules.windows:
        return
    yield _said("purchase")
    yield from _who_may_buy(rules, rules.purchase)
    yield _said(f"redraw_{rules.purchase.same_rank_redraw}")
    yield _said(f"failed_purchase_{rules.purchase.ante_after_failed}")
    if not rules.shared:
        yield _said("purchase_reserve", cards=rules.purchase.reserve_cards)
    yield _said("purchase_time", seconds=_seconds(table.durations.purchase_ms))


def _who_may_buy(rules: Ruleset, purchase: PurchaseRules) -> Sentences:
    if purchase.needs_combination:
        yield _said("purchase_needs_hand", hand=Word("hand", LOWEST_GAME))
    else:
        yield _said("purchase_any_hand")
    if rules.seating.blind_boxes_max != 0:
        yield _said("purchase_blind_may" if purchase.blind_boxes else "purchase_blind_may_not")
    if rules.insurance is not None:
        yield _said("purchase_insured_may" if rules.insurance.may_purchase else "purchase_insured_may_not")


def _settlement(table: TableNow) -> Sentences:
    yield _said("settled_together")
    yield _said("ties_with_kickers")
    if table.ruleset.insurance is not None:
        yield _said("insurance_first_hand")


def _payouts(table: TableNow) -> Sentences:
    yield _said("odds_on_bet")
    yield _said("two_combinations")
    yield _said(f"paired_straight_{table.ruleset.paired_straight}")
    yield _said("dealer_one_combination")


def _bonus(payouts: PayoutsBoard) -> Sentences:
    if payouts.bonus_player is not None:
        yield _said("bonus_player")
        yield _said("bonus_needs_ante")
        yield _said("bonus_whatever_follows")
        if any(row.jackpot_share_percent is not None for row in payouts.bonus_player):
            yield _said("bonus_jackpot")
    if payouts.bonus_dealer is not None:
        yield _said("bonus_dealer")


def _cap(table: TableNow, limits: LimitsBoard) -> Sentences:
    capped = any(box.max_payout is not None for currency in limits.currencies for box in currency.boxes)
    if not capped:
        yield _said("no_cap")
        return
    yield _said("cap")
    if table.ruleset.insurance is not None:
        includes = table.ruleset.cap_includes_insurance
        yield _said("cap_with_insurance" if includes else "cap_without_insurance")
    yield _said("cap_counts_winnings")


def _hands_table() -> RuleTable:
    rows = tuple((place, Word("hand", hand)) for place, hand in enumerate(HAND_NAMES, start=1))
    return RuleTable("hands", ("place", "hand"), rows)


def _mishaps() -> Sentences:
    yield _said("cancelled_gives_back")
    for reason in CANCEL_REASONS:
        yield _said(f"cancelled_{reason}")
    yield _said("disputes")


def _seconds(duration_ms: int) -> str:
    """Seconds as people read them: 20, 7.5."""
    return f"{duration_ms / _MS:g}"
