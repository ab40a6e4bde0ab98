"""From players' messages to what the table service is really asked, and back to answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from pydantic import BaseModel

from rules_core.round import commands as c
from tests.gateway.game.owners import ROUND, WHEN, answered
from tests.gateway.game.players import Checks, Money, playing
from tests.table.edges.world import Instance, Played, PlayedTips, no_database, open_instance
from upcard_gateway.adapters import table_play
from upcard_gateway.adapters.table_play import GrpcTablePlay
from upcard_gateway.app import game_playing
from upcard_gateway.app.game_orders import Order
from upcard_gateway.app.game_playing import Game, request_id_of
from upcard_gateway.app.game_purses import Purses
from upcard_gateway.app.game_seen import Made, Purse
from upcard_gateway.app.player_sessions import Playing
from upcard_gateway.domain.sessions import Limits
from upcard_gateway.entrypoints.play.commands import PlayerCommands
from upcard_platform import play
from upcard_table.app.calls import RoundWork


@pytest.fixture
async def instance() -> AsyncIterator[Instance]:
    async with open_instance(no_database(), Played(answered, {"t1"}), PlayedTips()) as found:
        yield found


@pytest.fixture
def money() -> Money:
    return Money()


@pytest.fixture
def commands(instance: Instance, money: Money) -> PlayerCommands:
    purses = Purses(money)
    nobody: Any = None
    game = Game(GrpcTablePlay(instance.table), purses, Checks())
    return PlayerCommands(game, purses, nobody, nobody, nobody, sandbox=frozenset({"sand"}))


def answer(made: Made) -> play.Answer:
    """The message as it is promised."""
    assert made.type == "answer"
    return play.Answer.model_validate({**made.body, "at": WHEN, "round": made.round, "channel": "none"})


async def handled(
    commands: PlayerCommands, message: BaseModel, who: Playing | None = None, table: str | None = "t1"
) -> play.Answer:
    return answer(await commands.handle(who or playing(), table, message))


def bet(identity: str, amount: int, **more: Any) -> play.Bet:
    placement = play.Placement(box=1, wager="ante", amount=amount, **more)
    return play.Bet(id=identity, round=ROUND, placements=[placement])


ID = request_id_of("s1", "m1")
WISHES: list[tuple[BaseModel, c.Command]] = [
    (
        play.Bet(
            id="m1",
            round=ROUND,
            placements=[
                play.Placement(box=2, wager="ante", amount=100, blind=True),
                play.Placement(box=2, wager="bonus_dealer", amount=10, funding="free1"),
            ],
        ),
        c.PlaceBet(
            "p1",
            "EUR",
            ID,
            (
                c.Placement(2, "ante", 100, blind=True),
                c.Placement(2, "bonus_dealer", 10, funding="free1"),
            ),
            "",
            "not_asked",
        ),
    ),
    (
        play.Withdraw(id="m1", round=ROUND, box=2, wager="bonus_player"),
        c.WithdrawBet("p1", 2, "bonus_player", ""),
    ),
    (play.Undo(id="m1", round=ROUND), c.UndoBet("p1", "")),
    (play.Clear(id="m1", round=ROUND), c.ClearBets("p1", "")),
    (play.Double(id="m1", round=ROUND), c.DoubleBets("p1", ID, "", "not_asked")),
    (play.Rebet(id="m1", round=ROUND), c.RepeatBets("p1", "EUR", ID, (), "", "not_asked")),
    (
        play.Option(id="m1", round=ROUND, box=1, kind="exchange", positions=[4, 0]),
        c.ChooseOption("p1", 1, "exchange", "", (4, 0), ID, "not_asked"),
    ),
    (
        play.Option(id="m1", round=ROUND, box=1, kind="fold"),
        c.ChooseOption("p1", 1, "fold", "", (), None, "not_asked"),
    ),
    (
        play.FinalOption(id="m1", round=ROUND, box=1, choice="bet", insurance=50),
        c.ChooseFinalOption("p1", 1, "bet", "", 50, ID, "not_asked"),
    ),
    (
        play.FinalOption(id="m1", round=ROUND, box=1, choice="fold"),
        c.ChooseFinalOption("p1", 1, "fold", "", 0, None, "not_asked"),
    ),
]


@pytest.mark.parametrize(("message", "command"), WISHES, ids=range(len(WISHES)))
async def test_what_the_table_is_asked(
    instance: Instance, commands: PlayerCommands, message: BaseModel, command: c.Command
) -> None:
    told = await handled(commands, message)
    assert (told.accepted, told.id, told.round) == (True, "m1", ROUND)
    (call,) = instance.tables.calls
    (work,) = call.works
    assert isinstance(work, RoundWork)
    assert (work.command, work.number) == (command, ROUND)
    assert work.by.actor == "player:p1"


async def test_a_purchase_and_its_refusal(instance: Instance, commands: PlayerCommands) -> None:
    await handled(commands, play.Purchase(id="m1", round=ROUND, box=1, buy=True))
    await handled(commands, play.Purchase(id="m2", round=ROUND, box=1, buy=False))
    bought, declined = (cast("RoundWork", call.works[0]).command for call in instance.tables.calls)
    assert isinstance(bought, c.MakePurchase)
    assert bought.bet_id == ID
    assert isinstance(declined, c.DeclinePurchase)


async def test_the_same_message_again_is_the_same_wish(instance: Instance, commands: PlayerCommands) -> None:
    first = await handled(commands, bet("m1", 100))
    assert (first.money, [one.amount for one in first.staked]) == ("moved", [100])
    again = await asyncio.gather(*(handled(commands, bet("m1", 100)) for _ in range(5)))
    assert all(one == first for one in again)
    assert len(instance.tables.calls) == 1
    assert (await handled(commands, bet("m1", 200))).reason == "id_reused"
    assert (await handled(commands, bet("m1", 100), playing(session="s2"))).accepted
    assert len(instance.tables.calls) == 2


async def test_what_was_taken_back_is_told_as_such(commands: PlayerCommands) -> None:
    told = await handled(commands, play.Undo(id="m1", round=ROUND))
    assert [one.amount for one in told.taken_back] == [100]
    assert told.staked == []


async def test_not_accepted_says_why_in_words(commands: PlayerCommands) -> None:
    refused = await handled(commands, bet("m1", 1))
    assert (refused.accepted, refused.reason, refused.text) == (
        False,
        "below_minimum",
        "The least there is 1.00 EUR.",
    )
    assert (refused.money, refused.again) == ("none_moved", False)
    declined = await handled(commands, bet("m2", 2))
    assert (declined.accepted, declined.reason, declined.round) == (False, "funds_refused", ROUND)


async def test_a_partner_that_is_away_is_told_as_such(commands: PlayerCommands, money: Money) -> None:
    seamless = playing(wallet="seamless")
    assert (await handled(commands, bet("m1", 3), seamless)).reason == "wallet_unavailable"
    money.purses = [Purse("EUR", None, unknown="partner_unavailable")]
    told = await handled(commands, bet("m2", 3), seamless)
    assert told.reason == "partner_unavailable"
    assert told.text is not None
    assert "Bets that stand are decided by the rules" in told.text
    assert (await handled(commands, bet("m3", 3))).reason == "wallet_unavailable"


async def test_an_answer_that_does_not_come_is_told_as_unknown(
    instance: Instance, commands: PlayerCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_play, "ASK_S", 0.4)
    monkeypatch.setattr(table_play, "CALL_S", 0.2)
    instance.tables.owned.clear()
    told = await handled(commands, bet("m1", 100))
    assert (told.accepted, told.reason, told.money, told.again) == (False, "outcome_unknown", "unknown", True)
    monkeypatch.undo()
    instance.tables.owned.add("t1")
    assert (await handled(commands, bet("m1", 100))).accepted


async def test_who_only_watches_and_who_is_nowhere(instance: Instance, commands: PlayerCommands) -> None:
    told = answer(await commands.handle(None, "t1", bet("m1", 100)))
    assert (told.accepted, told.reason) == (False, "sign_in_needed")
    assert (await handled(commands, bet("m1", 100), table=None)).reason == "table_not_joined"
    assert instance.tables.calls == []


@pytest.mark.parametrize(
    ("limits", "amount", "reason"),
    [
        (Limits(round_max=299), 100, "session_round_limit"),
        (Limits(wager_max=199), 100, "session_wager_limit"),
        (Limits(wager_max=200, round_max=300), 100, None),
    ],
)
async def test_limits_of_the_session_come_before_the_table(
    instance: Instance,
    money: Money,
    monkeypatch: pytest.MonkeyPatch,
    limits: Limits,
    amount: int,
    reason: str | None,
) -> None:
    table = GrpcTablePlay(instance.table)
    boxes: list[dict[str, Any]] = []

    async def own(*_: object) -> dict[str, Any]:
        return {"boxes": boxes}

    monkeypatch.setattr(table, "own", own)
    purses, nobody = Purses(money), cast("Any", None)
    commands = PlayerCommands(
        Game(table, purses, Checks()), purses, nobody, nobody, nobody, sandbox=frozenset()
    )
    who = playing(limits=limits)
    told = await handled(commands, bet("m1", amount), who)
    assert told.reason == reason
    assert len(instance.tables.calls) == (1 if reason is None else 0)
    if reason is not None:
        assert told.text is not None
        assert ".99 EUR" in told.text
        return
    # The same again gets the word of then, although the ante stands by now; another one does not fit.
    boxes.append({"box": 1, "blind": False, "folded": False, "wagers": {"ante": 100}})
    assert await handled(commands, bet("m1", amount), who) == told
    assert (await handled(commands, bet("m2", amount), who)).reason == "session_wager_limit"
    assert (await handled(commands, play.Double(id="m3", round=ROUND), who)).accepted is False
    bet_now = play.Option(id="m4", round=ROUND, box=1, kind="bet")
    assert (await handled(commands, bet_now, who)).accepted
    sixth = play.Option(id="m5", round=ROUND, box=1, kind="sixth")
    assert (await handled(commands, sixth, who)).reason == "session_round_limit"


def _limited(instance: Instance, money: Money, monkeypatch: pytest.MonkeyPatch) -> PlayerCommands:
    """Commands at a table where the player has 100 on the ante of box 1 in round 7, and nothing before."""
    table = GrpcTablePlay(instance.table)

    async def own(_: str, number: int, *__: object) -> dict[str, Any] | None:
        boxes = [{"box": 1, "blind": False, "folded": False, "wagers": {"ante": 100}}]
        return {"boxes": boxes} if number == ROUND else None

    monkeypatch.setattr(table, "own", own)
    purses, nobody = Purses(money), cast("Any", None)
    return PlayerCommands(Game(table, purses, Checks()), purses, nobody, nobody, nobody, sandbox=frozenset())


async def test_limits_are_judged_by_what_was_accepted_last(
    instance: Instance, money: Money, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = GrpcTablePlay(instance.table)
    wanted: list[int] = []

    async def own(*asked: Any) -> dict[str, Any]:
        wanted.append(asked[4])
        return {"boxes": []}

    monkeypatch.setattr(table, "own", own)
    purses, nobody = Purses(money), cast("Any", None)
    commands = PlayerCommands(
        Game(table, purses, Checks()), purses, nobody, nobody, nobody, sandbox=frozenset()
    )
    who = playing(limits=Limits(round_max=10_000))
    assert (await handled(commands, bet("m1", 100), who)).accepted
    assert (await handled(commands, bet("m2", 100), who)).accepted
    assert wanted[0] == 0
    assert wanted[1] > 0, "the view that is asked for knows of the first bet"


async def test_who_has_limits_stakes_only_in_a_round_that_is_named(
    instance: Instance, money: Money, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = _limited(instance, money, monkeypatch)
    who = playing(limits=Limits(round_max=300))
    for message in (
        play.Bet(id="m1", placements=[play.Placement(box=2, wager="ante", amount=100)]),
        play.Double(id="m2"),
        play.Rebet(id="m3"),
        play.Option(id="m4", box=1, kind="sixth"),
        play.FinalOption(id="m5", box=1, choice="stand", insurance=50),
        play.Purchase(id="m6", box=1, buy=True),
    ):
        told = await handled(commands, message, who)
        assert (told.accepted, told.reason, told.money) == (False, "round_missing", "none_moved")
    assert instance.tables.calls == []
    # What stakes nothing needs no round, and neither does who has no limits; named, the same id is free.
    assert (await handled(commands, play.Undo(id="m7"), who)).accepted
    assert (await handled(commands, play.Option(id="m8", box=1, kind="fold"), who)).accepted
    assert (await handled(commands, play.Bet(id="m9", placements=bet("m9", 100).placements))).accepted
    assert (await handled(commands, bet("m1", 100), who)).reason == "session_round_limit"


async def test_the_word_to_one_wish_is_not_the_word_to_another_of_the_same_id(
    instance: Instance, money: Money, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = _limited(instance, money, monkeypatch)
    who = playing(limits=Limits(round_max=600))
    harmless = bet("m1", 100)
    assert (await handled(commands, harmless, who)).accepted
    large = (await handled(commands, bet("m1", 9_000), who), await handled(commands, bet("m2", 9_000), who))
    assert [one.reason for one in large] == ["session_round_limit", "session_round_limit"]
    other_round = play.Bet(id="m1", round=ROUND - 1, placements=bet("m1", 300).placements)
    assert (await handled(commands, other_round, who)).reason == "session_round_limit"
    assert len(instance.tables.calls) == 1


async def test_two_wishes_at_a_time_do_not_pass_a_limit_together(
    instance: Instance, money: Money, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_playing, "TURN_S", 60.0)
    table = GrpcTablePlay(instance.table)
    boxes: list[dict[str, Any]] = []
    ask = table.ask

    async def own(*_: object) -> dict[str, Any]:
        return {"boxes": list(boxes)}

    async def asked(order: Order) -> Any:
        outcome = await ask(order)
        boxes.append({"box": 1, "blind": False, "folded": False, "wagers": {"ante": 100}})
        return outcome

    monkeypatch.setattr(table, "own", own)
    monkeypatch.setattr(table, "ask", asked)
    purses, nobody = Purses(money), cast("Any", None)
    commands = PlayerCommands(
        Game(table, purses, Checks()), purses, nobody, nobody, nobody, sandbox=frozenset()
    )
    who = playing(limits=Limits(round_max=300))
    both = await asyncio.gather(*(handled(commands, bet(name, 100), who) for name in ("m1", "m2")))
    assert sorted(str(one.reason) for one in both) == ["None", "session_round_limit"]
    assert len(instance.tables.calls) == 1


async def test_the_purse_is_asked_seldom_and_anew_after_a_wish(
    commands: PlayerCommands, money: Money
) -> None:
    who = playing()
    first, second = await asyncio.gather(commands.purse(who), commands.purse(who))
    assert (first, second, money.asked) == (Purse("EUR", 10_000), Purse("EUR", 10_000), 1)
    await commands.purse(who)
    assert money.asked == 1
    await handled(commands, bet("m1", 100))
    await commands.purse(who)
    assert money.asked == 2
    await commands.purse(who, fresh=True)
    assert money.asked == 3
    told = commands.balance(Purse("EUR", None, unknown="balance_unknown"))
    assert (
        play.Balance.model_validate({**told.body, "at": WHEN, "round": 0, "channel": "none"}).amount is None
    )


def test_which_tables_somebody_may_come_to(money: Money) -> None:
    nobody = cast("Any", None)
    commands = PlayerCommands(nobody, Purses(money), nobody, nobody, nobody, sandbox=frozenset({"sand"}))
    assert commands.sees(None, "t1")
    assert not commands.sees(None, "sand")
    assert commands.sees(playing(), "t1")
    assert not commands.sees(playing(), "sand")
    assert commands.sees(playing(table="t1"), "t1")
    assert not commands.sees(playing(table="t1"), "t2")
