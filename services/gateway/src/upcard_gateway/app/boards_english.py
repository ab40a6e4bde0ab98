"""The English catalogue of the rules page: every word that it says, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LANGUAGE: Final = "en"

TITLES: Final[Mapping[str, str]] = {
    "table": "The table",
    "seating": "Which boxes you may play",
    "betting": "Betting",
    "deal": "The deal",
    "options": "Your options",
    "final_options": "Bet or fold, and insurance",
    "showdown": "The dealer's hand",
    "purchase": "Buying the dealer a card",
    "settlement": "How a box is settled",
    "payouts": "What the bet pays",
    "bonus": "Bonus bets",
    "cap": "The most that can be won",
    "hands": "The order of hands",
    "mishaps": "When something goes wrong",
}

TABLES: Final[Mapping[str, str]] = {
    "limits": "Limits in {detail}",
    "boxes": "Limits of each box in {detail}",
    "odds": "One combination",
    "doubles": "Two combinations",
    "bonus_player": "Bonus B, on the first five cards of your box",
    "bonus_dealer": "Bonus D, on the dealer's first five cards",
    "outcomes": "Without insurance",
    "outcomes_insured": "With insurance",
    "hands": "The highest first",
}

COLUMNS: Final[Mapping[str, str]] = {
    "wager": "Wager",
    "least": "Least",
    "most": "Most",
    "box": "Box",
    "ante_least": "Least ante",
    "ante_most": "Most ante",
    "max_payout": "Most that the bet wins",
    "hand": "Hand",
    "hands": "Hands",
    "pays": "Pays",
    "place": "Place",
    "case": "What happens",
    "ante": "Ante",
    "bet": "Bet",
    "option_fee": "Price of the option",
    "insurance": "Insurance",
    "purchase_fee": "Price of the dealer's card",
}

SENTENCES: Final[Mapping[str, str]] = {
    # the table and who sits where
    "game": "Russian Poker, played against the dealer, with one deck of 52 cards and {boxes} boxes.",
    "table_shared": "Any number of players play the same boxes and the same cards, and each decides alone.",
    "table_exclusive": "A box belongs to one player in a round.",
    "box_open": "Box {box} is an open box: you see its cards and decide.",
    "box_blind": "Box {box} is a blind box: its cards stay face down to the end, and nothing is decided.",
    "box_any": (
        "You choose whether you play a box open or blind. Open: you see the cards and decide. Blind: the "
        "cards stay face down to the end, and nothing is decided."
    ),
    "open_boxes_max": "You may play {most} open {most_boxes} in a round.",
    "blind_boxes_any": "You may play any number of blind boxes.",
    "blind_boxes_max": "You may play {most} blind {most_boxes} in a round.",
    "blind_boxes_none": "There are no blind boxes.",
    "blind_needs_open": "A blind box can be played only while you play {open} open ones.",
    "neighbours_only": "All your boxes lie side by side.",
    "equal_antes_open_boxes": "The antes of your open boxes are equal.",
    "equal_antes_all_boxes": "The antes of all your boxes are equal.",
    "first_bet_takes_box": "The first bet takes a box; taking all bets back frees it.",
    # betting
    "bet_is_antes": (
        "You stake an ante before the deal. The bet, placed later, is always {antes} times the ante."
    ),
    "blind_staked_at_once": "In a blind box ante and bet are staked together, before the deal.",
    "betting_time": "Bets are taken for {seconds} seconds, never for less.",
    "late_bets": (
        "A bet that comes after the close, or is above a limit, is refused in full; no money is kept."
    ),
    "no_bet_no_round": "While nobody has bet, the time begins again and no cards are dealt.",
    "bet_reserved": "The money of an open box's bet is set aside with the ante; what is not used comes back.",
    # deal
    "deal_shared": "Five cards are dealt to every box and to the dealer.",
    "deal_exclusive": "Five cards are dealt to each box that is played, and to the dealer.",
    "deal_dealer": "The dealer's first four cards lie face down, the last one face up.",
    "open_cards_public": "The cards of open boxes lie face up for everybody.",
    "open_cards_private": (
        "The cards of an open box are seen by its player alone until the dealer's hand is opened."
    ),
    "blind_cards": "The cards of blind boxes lie face down until the end.",
    "deck_shuffled": (
        "The deck is shuffled before every round, and checked in view when it comes to the table."
    ),
    # options
    "options_shared": (
        "All players decide at the same time; nobody sees the others' choices before the close."
    ),
    "options_exclusive": "The boxes decide one after another, in the order of their numbers.",
    "option_bet": "Bet: you place the bet, {antes} times the ante.",
    "option_sixth": "Sixth card: for one ante you get one more card.",
    "option_exchange": "Exchange: for one ante you change 1 to {most} of your cards.",
    "option_fold": "Fold: you give the box up and lose its ante.",
    "option_once": (
        "A sixth card or an exchange is bought once, never both. Its price never comes back. A choice is "
        "final."
    ),
    "switch_cards": (
        "{cards} new cards are laid for all. Whoever exchanged gets the first of these, as many as were "
        "changed, in the order chosen; a sixth card is the first of them."
    ),
    "drawn_from_deck": "Cards that are bought come from the deck, box by box.",
    "deck_bounds": "When the deck runs short, fewer cards can be changed, or none.",
    "options_time": "There are {seconds} seconds to decide.",
    "options_passed": "When the time passes without a choice, no card is bought; you may still bet or fold.",
    # final options and insurance
    "final_bet": (
        "Whoever bought cards, or let the time pass, now places the bet of {antes} times the ante, or folds."
    ),
    "insurance_who": (
        "With {hand} or better you may insure against the dealer having no game, unless you let the "
        "options pass."
    ),
    "insurance_whole": (
        "The least is one ante, the most what the bet would win; when the most is below the least, there "
        "is none."
    ),
    "insurance_part": (
        "The least is one ante, the most {numerator}/{denominator} of what the bet would win, rounded down; "
        "when the most is below the least, there is none."
    ),
    "insurance_table_limit": "A limit of the table may lower the most, never raise it.",
    "insurance_wins": "When the dealer is dealt no game it pays 1 to 1, whatever a bought card makes of it.",
    "insurance_on_tie_lost": (
        "When the dealer is dealt a game and the hands are equal, the insurance is lost."
    ),
    "insurance_on_tie_returned": (
        "When the dealer is dealt a game and the hands are equal, the insurance comes back."
    ),
    "insurance_when_beaten_lost": "When the dealer is dealt a game that is better, the insurance is lost.",
    "insurance_when_beaten_returned": (
        "When the dealer is dealt a game that is better, the insurance comes back."
    ),
    "insured_ante_returned": (
        "When the dealer has no game, the ante of an insured box comes back and is not paid."
    ),
    "insured_ante_one_to_one": (
        "When the dealer has no game, the ante of an insured box is paid 1 to 1 all the same."
    ),
    "final_time": "There are {seconds} seconds to decide.",
    "final_passed": (
        "When the time passes, a box with {hand} or better bets, if the money is there, and any other box "
        "folds. Nobody is ever insured by default."
    ),
    # showdown and purchase
    "showdown_public": "Blind boxes are opened, then the dealer's hand.",
    "showdown_private": "The dealer's hand is opened, then the boxes that did not fold.",
    "dealer_always_opens": "The dealer's hand is opened also when every box has folded.",
    "game_is": "The dealer has a game with {hand} or better.",
    "purchase": (
        "When the dealer has no game you may pay one ante for a new card in place of the dealer's highest "
        "card. The new hand counts for the boxes that bought alone. The price never comes back."
    ),
    "purchase_needs_hand": "A box needs {hand} or better to buy.",
    "purchase_any_hand": "A box needs no combination to buy.",
    "purchase_blind_may": "Blind boxes may buy.",
    "purchase_blind_may_not": "Blind boxes may not buy.",
    "purchase_insured_may": "Insured boxes may buy.",
    "purchase_insured_may_not": "Insured boxes may not buy.",
    "redraw_never": "Only one card is drawn, also where it has the rank of the card that it replaces.",
    "redraw_once": (
        "Where the new card has the rank of the card that it replaces and there is still no game, one more "
        "is "
        "drawn at no charge."
    ),
    "redraw_until_different": (
        "Where the new card has the rank of the card that it replaces and there is still no game, another is "
        "drawn at no charge, until the rank differs or there is a game."
    ),
    "failed_purchase_returned": "When there is still no game, the ante comes back and is not paid.",
    "failed_purchase_one_to_one": "When there is still no game, the ante is paid 1 to 1 all the same.",
    "purchase_reserve": "Of the deck {cards} {cards_word} kept back for this.",
    "purchase_time": "There are {seconds} seconds to decide; whoever lets them pass does not buy.",
    # settlement and payouts
    "settled_together": "All boxes are settled together when the round ends.",
    "ties_with_kickers": "Hands are compared whole, cards beside a combination included.",
    "insurance_first_hand": "The insurance is decided by the dealer's hand as it was dealt.",
    "odds_on_bet": "When the dealer has a game and your hand is better, the bet is paid by your hand.",
    "two_combinations": (
        "Two combinations of one hand are both paid when each has at least one card that the other lacks; "
        "never more than two. Of all choices the one with the highest sum is paid."
    ),
    "paired_straight_two_straights": "Six cards with a straight, one rank of it paired, are two straights.",
    "paired_straight_straight_and_pair": (
        "Six cards with a straight, one rank of it paired, are a straight and a pair."
    ),
    "dealer_one_combination": "The dealer's hand never counts for two.",
    # bonuses
    "bonus_player": (
        "Bonus B is decided by the first five cards of your box. Where these hold two combinations, the "
        "higher one that is in the table counts."
    ),
    "bonus_needs_ante": "It can be staked only on a box with an ante, and goes back with it.",
    "bonus_whatever_follows": (
        "It does not depend on what becomes of the box, folded included, and is paid with the round. When "
        "the "
        "round is cancelled it comes back, and nothing is won."
    ),
    "bonus_jackpot": (
        "For some hands the stake comes back with a share of the progressive jackpot; several winners of a "
        "round divide it by their stakes. The jackpot needs no game, and no cap reaches it."
    ),
    "bonus_dealer": (
        "Bonus D is decided by the dealer's first five cards, before any purchase; only the best hand counts."
    ),
    # cap
    "no_cap": "There is no such limit at this table.",
    "cap": (
        "The win of a bet, in one box and round, is at most what the limits say, both combinations together."
    ),
    "cap_with_insurance": (
        "What the insurance wins counts towards it and is paid first; the insurance wins at most as much, "
        "too."
    ),
    "cap_without_insurance": "What the insurance wins does not count towards it.",
    "cap_counts_winnings": (
        "Stakes that come back, the ante's 1 to 1, bonuses and jackpots do not count towards it."
    ),
    # hands
    "hands_order": (
        "Suits are equal. An ace is high, or low in A-2-3-4-5 alone. Six cards play their best five."
    ),
    "hands_ties": "Equal hands are compared by their ranks, then by the cards beside the combination.",
    # mishaps
    "cancelled_gives_back": (
        "A cancelled round gives every wager and price back, whatever had been won; tips stay given."
    ),
    "cancelled_hidden_card_exposed": "A round is cancelled when a card was shown that should lie face down.",
    "cancelled_wrong_card_read": "It is cancelled when a card was misread and this was noticed too late.",
    "cancelled_extra_card_dealt": "It is cancelled when a card was dealt that does not belong there.",
    "cancelled_table_cleared_early": "It is cancelled when the cards were taken away too early.",
    "cancelled_card_dropped": "It is cancelled when a card fell from the table.",
    "cancelled_dealer_mistake": "It is cancelled when the dealer made a mistake that cannot be mended.",
    "cancelled_technical_failure": "It is cancelled when something technical failed.",
    "disputes": "Disputes are finally decided by the casino's manager.",
}

WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "hand": {
        "royal_flush": "royal flush",
        "straight_flush": "straight flush",
        "four_of_a_kind": "four of a kind",
        "full_house": "full house",
        "flush": "flush",
        "straight": "straight",
        "three_of_a_kind": "three of a kind",
        "two_pair": "two pair",
        "one_pair": "one pair",
        "ace_king": "ace-king",
        "nothing": "no combination",
    },
    "rank": {
        "2": "twos",
        "3": "threes",
        "4": "fours",
        "5": "fives",
        "6": "sixes",
        "7": "sevens",
        "8": "eights",
        "9": "nines",
        "T": "tens",
        "J": "jacks",
        "Q": "queens",
        "K": "kings",
        "A": "aces",
    },
    "limit": {
        "ante": "Ante",
        "bet": "Bet",
        "bonus_player": "Bonus B",
        "bonus_dealer": "Bonus D",
        "insurance": "Insurance",
        "player_total": "All your stakes before the deal",
        "max_payout": "Win of the bet in one box",
        "operator": "One wager, by your casino",
        "chip": "Smallest chip",
    },
    "case": {
        "folded": "You folded",
        "no_game": "No game",
        "game_better": "Game, your hand is better",
        "game_tie": "Game, equal hands",
        "game_worse": "Game, the dealer's hand is better",
        "bought_no_game": "Card bought, still no game",
        "bought_game_better": "Card bought, game, your hand is better",
        "bought_game_tie": "Card bought, game, equal hands",
        "bought_game_worse": "Card bought, game, the dealer's hand is better",
    },
    "fate": {
        "lost": "lost",
        "returned": "comes back",
        "one_to_one": "paid 1 to 1",
        "odds": "paid by your hand",
    },
}

SHARE_OF_JACKPOT: Final = "{percent} % of the jackpot, and the stake back"
TO_ONE: Final = "{odds} to 1"
RANKED: Final[Mapping[str, str]] = {"three_of_a_kind": "three {rank}", "two_pair": "two pair with {rank}"}
BOTH: Final = "{first} and {second}"
NUMBERED: Final[Mapping[str, tuple[str, str]]] = {
    "most": ("most_boxes", "box|boxes"),
    "cards": ("cards_word", "card is|cards are"),
}
"""A number of a sentence: the name of the word beside it, and its form for one and for more."""
