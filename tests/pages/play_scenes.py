"""What the gateway says in some moments of rounds, for the players' page."""

from __future__ import annotations

from typing import Any, Final

from tests.pages.play_stage import Message, Stage

CHIPS: Final = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
LIVE: Final = {
    "table": "t-1",
    "name": "Grand hall 1",
    "ruleset": "live-shared@1",
    "open": True,
    "dealer": "d-1",
    "dealer_name": "Robin",
    "manual_mode": False,
    "currencies": ["EUR"],
}
DARK: Final = {**LIVE, "table": "t-2", "name": "Dark room", "ruleset": "dark-boxes@1"}
NO_ACTIONS: Final[Message] = {
    "place": [],
    "withdraw": [],
    "undo": False,
    "clear": False,
    "double": None,
    "rebet": False,
    "options": [],
    "finals": [],
    "purchases": [],
    "chips": [],
    "free_bets": [],
}


def placing(
    boxes: list[int], wager: str, *, blind: bool = False, least: int = 100, most: int = 2_000
) -> Message:
    """One place where a chip may go."""
    return {
        "boxes": boxes,
        "wager": wager,
        "blind": boxes if blind else [],
        "min": least,
        "max": most,
        "step": 50,
    }


def box_of(number: int, *, cards: str = "", hand: Message | None = None, **more: Any) -> Message:
    """A box of the player's."""
    return {
        "box": number,
        "blind": False,
        "cards": cards.split(),
        "bought": [],
        "hand": hand,
        "turn": None,
        "asked": False,
        "wagers": {"ante": 500},
        "staked": 500,
        "option": None,
        "positions": [],
        "final": None,
        "final_by": None,
        "purchase": None,
        "folded": False,
        "result": None,
        "words": None,
        **more,
    }


def own(stage: Stage, boxes: list[Message], **more: Any) -> None:
    """Say how the player's own matters stand."""
    actions = {**NO_ACTIONS, **more.pop("actions", {})}
    fields = {
        "because": "update",
        "events": [],
        "boxes": boxes,
        "dealer": None,
        "total": 500,
        "settled": None,
    }
    stage.tell("own", **{**fields, **more}, actions=actions)


async def seated(stage: Stage, table: Message = LIVE) -> None:
    """Be at the table, with a balance and a chat."""
    await stage.wait_asked("hello" if stage.welcome.get("table") else "join")
    boxes = 3 if table is LIVE else 6
    view = {
        "step": "betting",
        "cards": {},
        "dealer": {"hand": None, "final": None},
        "boxes": [
            {"box": number, "dealt": False, "hand": None, "play": None} for number in range(1, boxes + 1)
        ],
        "progress": [],
    }
    stage.tell("snapshot", because="joined", table=table, view=view)
    stage.tell("balance", currency="EUR", amount=123_450)
    stage.tell("bets", placed=[], total=0, last_win=1_250, last_round=6)
    said = "2026-01-02T03:04:00.000Z"
    stage.tell(
        "chat",
        lines=[
            {
                "line": 1,
                "nickname": "Kim",
                "who": "player",
                "own": False,
                "text": "Good evening",
                "said_at": said,
            },
            {
                "line": 2,
                "nickname": "Robin",
                "who": "dealer",
                "own": False,
                "text": "Welcome!",
                "said_at": said,
            },
            {"line": 3, "nickname": "Lee", "who": "player", "own": False, "text": None, "said_at": said},
            {
                "line": 4,
                "nickname": "Ann",
                "who": "player",
                "own": True,
                "text": "Hello all",
                "said_at": said,
            },
        ],
    )


def betting(stage: Stage) -> None:
    """Bets are taken; one ante stands."""
    stage.window("betting")
    own(
        stage,
        [box_of(2)],
        actions={
            "place": [
                placing([1], "ante", blind=True),
                placing([2], "ante", least=50, most=1_500),
                placing([2], "bonus_player", least=50),
                placing([2], "bonus_dealer", least=50),
                placing([3], "ante", blind=True),
            ],
            "withdraw": [{"box": 2, "wager": "ante"}],
            "undo": True,
            "clear": True,
            "double": 500,
            "chips": list(CHIPS),
            "free_bets": [{"funding": "fb-1", "wager": "ante", "amount": 200, "until": None}],
        },
    )
    stage.tell(
        "bets", placed=[{"box": 2, "wager": "ante", "amount": 500}], total=500, last_win=1_250, last_round=6
    )


DEALT: Final = {
    "box.1": "hidden " * 5,
    "box.2": "As Ah Kd 7c 2s",
    "box.3": "hidden " * 5,
    "dealer": "hidden " * 4 + "Qc",
}
PAIR: Final = {
    "name": "pair",
    "words": "A pair of aces",
    "combinations": ["pair", "ace_king"],
    "odds": 2,
    "game": None,
}


def deal(stage: Stage) -> None:
    """The cards of the deal come out."""
    stage.event("BettingClosed", closed_at="x", boxes=[1, 2, 3])
    for hand, cards in DEALT.items():
        for index, card in enumerate(cards.split()):
            seen = None if card == "hidden" else card
            stage.event("CardScanned", place=f"{hand}.{index}", card=seen, commitment=None)


def options(stage: Stage) -> None:
    """The option of box 2 is asked."""
    deal(stage)
    stage.event("OptionsOpened", box=None, opened_at="x", closes_at="x")
    stage.window("options")
    own(
        stage,
        [box_of(2, cards=DEALT["box.2"], hand=PAIR, asked=True)],
        actions={"options": [{"box": 2, "bet": 1_000, "fee": 500, "sixth_card": True, "exchange_max": 5}]},
    )


def finals(stage: Stage) -> None:
    """The final option of box 2 is asked, with insurance."""
    stage.window("final_options", left_ms=4_000)
    trips = {
        "name": "three_of_a_kind",
        "words": "Three aces",
        "combinations": ["three_of_a_kind"],
        "odds": 3,
        "game": None,
    }
    for index, card in enumerate(["Ad", "5h", "hidden", "hidden", "hidden"]):
        stage.event("CardScanned", place=f"switch.{index}", card=None if card == "hidden" else card)
    own(
        stage,
        [
            box_of(
                2,
                cards=DEALT["box.2"],
                hand=trips,
                asked=True,
                option="exchange",
                positions=[3, 4],
                bought=["Ad", "5h"],
                wagers={"ante": 500, "option_fee": 500},
            )
        ],
        actions={
            "finals": [
                {
                    "box": 2,
                    "choices": ["bet", "fold"],
                    "bet": 1_000,
                    "insurance": {"min": 500, "max": 1_500, "step": 1},
                    "win_max": 3_000,
                    "cap_room": None,
                }
            ]
        },
    )


def settled(stage: Stage) -> None:
    """The round is over, and won."""
    stage.event("FinalOptionsClosed")
    openings = [
        {"place": f"dealer.{i}", "card": card, "superseded": False}
        for i, card in enumerate(["Ac", "Kc", "9d", "8h"])
    ]
    stage.event("DealerRevealed", openings=openings, hand="ace_king", qualified=True)
    stage.window(None)
    stage.event(
        "RoundSettled",
        dealer={"first": "ace_king", "final": "ace_king", "qualified": True, "purchased": False},
    )
    own(
        stage,
        [
            box_of(
                2,
                cards=DEALT["box.2"],
                hand=PAIR,
                option="bet",
                wagers={"ante": 500, "bet": 1_000},
                result={"outcome": "win", "net": 2_000},
            )
        ],
        dealer={"name": "ace_king", "words": "Ace-king", "combinations": [], "odds": None, "game": True},
        settled={"staked": 1_500, "returned": 3_500, "net": 2_000, "revision": 1},
    )


def exclusive(stage: Stage) -> None:
    """Six boxes, of which others have some."""
    stage.window("betting")
    stage.event(
        "BetPlaced",
        player="~1a2b",
        stakes=[
            {"box": 4, "wager": "ante", "amount": 500, "blind": False},
            {"box": 5, "wager": "ante", "amount": 500, "blind": True},
            {"box": 5, "wager": "bet", "amount": 1_000, "blind": True},
        ],
    )
    place = []
    for number in (1, 2, 3, 6):
        place += [placing([number], "ante"), placing([number], "ante", blind=True)]
    own(
        stage,
        [box_of(1), box_of(2)],
        actions={
            "place": [
                *place,
                placing([1, 2], "ante", least=50),
                placing([1], "bonus_player", least=100, most=100),
            ],
            "withdraw": [{"box": 1, "wager": "ante"}, {"box": 2, "wager": "ante"}],
            "undo": True,
            "clear": True,
            "chips": list(CHIPS[:8]),
        },
    )


def _lobby_table(table: str, name: str, state: str, *, shared: bool) -> Message:
    return {
        "table": table,
        "name": name,
        "ruleset": "live-shared@1",
        "title": "Live shared table" if shared else "Dark boxes",
        "state": state,
        "round": 7,
        "languages": ["en"],
        "dealer": "Robin",
        "seats": {"boxes": 6, "shared": shared, "free": [1, 2, 6]},
        "limits": [{"currency": "EUR", "ante_min": 100, "ante_max": 2_000}],
        "last_results": [
            {"round": 6, "end": "settled", "dealer": "pair"},
            {"round": 5, "end": "settled", "dealer": "nothing"},
            {"round": 4, "end": "cancelled", "dealer": None},
        ],
    }


LOBBY: Final[Message] = {
    "tables": [
        _lobby_table("t-1", "Grand hall 1", "betting", shared=True),
        _lobby_table("t-2", "Dark room", "playing", shared=False),
        _lobby_table("t-3", "Quiet corner", "waiting", shared=False),
        _lobby_table("t-4", "Shut", "closed", shared=False),
    ]
}
HISTORY: Final[Message] = {
    "rounds": [
        {
            "round": "t-1.6",
            "table": "t-1",
            "number": 6,
            "state": "settled",
            "opened_at": "2026-01-02T03:00:00.000000Z",
            "staked": 1_500,
            "returned": 3_500,
            "net": 2_000,
        }
    ],
    "next": "p2",
}
STATEMENT: Final[Message] = {
    "lines": [
        {
            "at": "2026-01-02T03:00:30.000000Z",
            "kind": "settlement",
            "cash": 3_500,
            "held": -1_500,
            "owed": 0,
            "promo": 0,
            "balance": 123_450,
            "round": "t-1.6",
            "reason": None,
            "transaction": "x",
        },
        {
            "at": "2026-01-02T02:00:00.000000Z",
            "kind": "deposit",
            "cash": 100_000,
            "held": 0,
            "owed": 0,
            "promo": 0,
            "balance": 121_450,
            "round": None,
            "reason": None,
            "transaction": "y",
        },
    ],
    "next": None,
}
