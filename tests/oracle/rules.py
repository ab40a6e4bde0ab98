"""The five rulesets of RULES.md section 6, typed in a second time."""

from __future__ import annotations

from typing import TypedDict


class Rules(TypedDict):
    """What a settlement needs to know of a house; the words are those of RULES.md."""

    boxes: int
    shared: bool
    open_boxes: set[int]
    blind_boxes: set[int]
    exchange_max: int
    insurance_fraction: tuple[int, int]
    insurance_on_tie: str
    insurance_when_beaten: str
    insured_ante_on_no_game: str
    insured_may_purchase: bool
    blind_may_purchase: bool
    purchase_needs_ace_king: bool
    same_rank_redraw: str
    ante_after_failed_purchase: str
    cap_includes_insurance: bool
    paired_straight: str
    bonus_player: dict[str, int] | None
    bonus_dealer: dict[str, int] | None
    jackpot_percent: dict[str, int]


LIVE_SHARED_BONUS = {
    "royal_flush": 1000,
    "straight_flush": 500,
    "four_of_a_kind": 100,
    "full_house": 75,
    "flush": 50,
    "straight": 40,
    "three_sevens": 20,
    "two_pair_with_sevens": 5,
    "ace_king": 1,
}

DARK_BOXES_BONUS = {
    "four_of_a_kind": 200,
    "full_house": 70,
    "flush": 50,
    "straight": 40,
    "three_of_a_kind": 7,
    "two_pair": 2,
}

RULESETS: dict[str, Rules] = {
    "live-shared@1": {
        "boxes": 3,
        "shared": True,
        "open_boxes": {2},
        "blind_boxes": {1, 3},
        "exchange_max": 5,
        "insurance_fraction": (1, 2),
        "insurance_on_tie": "lost",
        "insurance_when_beaten": "returned",
        "insured_ante_on_no_game": "returned",
        "insured_may_purchase": True,
        "blind_may_purchase": True,
        "purchase_needs_ace_king": True,
        "same_rank_redraw": "never",
        "ante_after_failed_purchase": "returned",
        "cap_includes_insurance": False,
        "paired_straight": "two_straights",
        "bonus_player": LIVE_SHARED_BONUS,
        "bonus_dealer": LIVE_SHARED_BONUS,
        "jackpot_percent": {},
    },
    "dark-boxes@1": {
        "boxes": 6,
        "shared": False,
        "open_boxes": {1, 2, 3, 4, 5, 6},
        "blind_boxes": {1, 2, 3, 4, 5, 6},
        "exchange_max": 5,
        "insurance_fraction": (1, 1),
        "insurance_on_tie": "returned",
        "insurance_when_beaten": "returned",
        "insured_ante_on_no_game": "1:1",
        "insured_may_purchase": True,
        "blind_may_purchase": False,
        "purchase_needs_ace_king": False,
        "same_rank_redraw": "once",
        "ante_after_failed_purchase": "returned",
        "cap_includes_insurance": True,
        "paired_straight": "two_straights",
        "bonus_player": DARK_BOXES_BONUS,
        "bonus_dealer": None,
        "jackpot_percent": {"straight_flush": 10, "royal_flush": 100},
    },
    "classic@1": {
        "boxes": 6,
        "shared": False,
        "open_boxes": {1, 2, 3, 4, 5, 6},
        "blind_boxes": {1, 2, 3, 4, 5, 6},
        "exchange_max": 4,
        "insurance_fraction": (1, 2),
        "insurance_on_tie": "lost",
        "insurance_when_beaten": "lost",
        "insured_ante_on_no_game": "1:1",
        "insured_may_purchase": False,
        "blind_may_purchase": True,
        "purchase_needs_ace_king": False,
        "same_rank_redraw": "once",
        "ante_after_failed_purchase": "1:1",
        "cap_includes_insurance": False,
        "paired_straight": "two_straights",
        "bonus_player": None,
        "bonus_dealer": None,
        "jackpot_percent": {},
    },
    "three-box@1": {
        "boxes": 3,
        "shared": False,
        "open_boxes": {1, 2, 3},
        "blind_boxes": set(),
        "exchange_max": 5,
        "insurance_fraction": (1, 1),
        "insurance_on_tie": "lost",
        "insurance_when_beaten": "lost",
        "insured_ante_on_no_game": "1:1",
        "insured_may_purchase": True,
        "blind_may_purchase": False,
        "purchase_needs_ace_king": False,
        "same_rank_redraw": "never",
        "ante_after_failed_purchase": "returned",
        "cap_includes_insurance": False,
        "paired_straight": "two_straights",
        "bonus_player": None,
        "bonus_dealer": None,
        "jackpot_percent": {},
    },
    "four-box@1": {
        "boxes": 4,
        "shared": False,
        "open_boxes": {1, 2, 3, 4},
        "blind_boxes": {1, 2, 3, 4},
        "exchange_max": 5,
        "insurance_fraction": (1, 2),
        "insurance_on_tie": "returned",
        "insurance_when_beaten": "returned",
        "insured_ante_on_no_game": "1:1",
        "insured_may_purchase": True,
        "blind_may_purchase": False,
        "purchase_needs_ace_king": False,
        "same_rank_redraw": "until_different",
        "ante_after_failed_purchase": "returned",
        "cap_includes_insurance": True,
        "paired_straight": "two_straights",
        "bonus_player": None,
        "bonus_dealer": None,
        "jackpot_percent": {},
    },
}
