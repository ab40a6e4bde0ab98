"""Nobody sees a hidden card early: RULES.md section 7, in random rounds of every ruleset.

A random round is decided again command by command, with misread cards read again and sometimes a
cancellation. After every command each viewer's view and newly shown events are searched, text by text, for
each card that is not open to that viewer. Who may see what is worked out here from the clauses and the
events alone.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules_core.cards import CARD_TEXTS, Card, card_text
from rules_core.command_line.random_round import RandomTable, random_round
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.codec import payload_of
from rules_core.round.decide import decide
from rules_core.round.evolve import evolve
from rules_core.round.refusal import Refusal
from rules_core.round.sealed import Sealed, SealedCard, commitment_of
from rules_core.round.state import new_round
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.shipped import shipped, shipped_ids
from rules_core.views import entitlement
from rules_core.views.entitlement import entitled_places
from rules_core.views.events import Shown, Watch, shown_object
from rules_core.views.table import table_view
from rules_core.views.viewers import Dealer, Operations, Player, Public, Viewer

CHOICES = (e.OptionChosen, e.FinalOptionChosen, e.PurchaseMade, e.PurchaseDeclined)
BETS = (e.BetPlaced, e.BetWithdrawn)
WINDOW_OF = {
    e.BetPlaced: e.BettingClosed,
    e.BetWithdrawn: e.BettingClosed,
    e.OptionChosen: e.OptionsClosed,
    e.FinalOptionChosen: e.FinalOptionsClosed,
    e.PurchaseMade: e.PurchaseClosed,
    e.PurchaseDeclined: e.PurchaseClosed,
}


@dataclass(frozen=True)
class Secret:
    """A card that was laid face down and is not opened yet."""

    place: str
    card: str
    salt: str
    commitment: str


@dataclass
class Secrets:
    """What is hidden, and from whom: RULES.md sections 4.2, 4.4 and 7, from the events alone."""

    ruleset: Ruleset
    hidden: dict[str, Secret] = field(default_factory=dict)
    """By commitment: misreads that were read again too."""
    lying: dict[str, str] = field(default_factory=dict)
    """Commitment of the card that lies in a place."""
    blind: set[int] = field(default_factory=set)
    owner: dict[int, str] = field(default_factory=dict)
    had_turn: set[int] = field(default_factory=set)
    bought: Counter[str] = field(default_factory=Counter)

    def record(self, event: e.RoundEvent, command: c.Command) -> None:
        """Take an event in; of a scan, the card and salt come from its command."""
        match event:
            case e.BetPlaced():
                for stake in event.stakes:
                    self.owner[stake.box] = event.player
                    (self.blind.add if stake.blind else self.blind.discard)(stake.box)
            case e.CardScanned(commitment=str(commitment)) | e.CardRescanned(commitment=str(commitment)):
                assert isinstance(command, (c.ScanCard, c.RescanCard))
                assert command.card is not None
                salt = command.card_salt or ""
                self.hidden[commitment] = Secret(event.place, card_text(command.card), salt, commitment)
                self.lying[event.place] = commitment
            case e.CardsRevealed() | e.DealerRevealed():
                for opening in event.openings:
                    del self.hidden[opening.commitment or ""]
            case e.OptionsOpened(box=int(box)):
                self.had_turn.add(box)
            case e.OptionChosen():
                cards = 1 if event.kind == "sixth" else len(event.positions)
                self.bought[event.player] = max(cards, self.bought[event.player])
            case _:
                pass

    def entitled(self, viewer: Viewer) -> Iterator[Secret]:
        """The hidden cards that this viewer may see now."""
        for secret in self.hidden.values():
            if self.lying[secret.place] == secret.commitment and self._may_see(viewer, secret.place):
                yield secret

    def _may_see(self, viewer: Viewer, place: str) -> bool:
        if not isinstance(viewer, Player):
            return False
        kind, *numbers = place.split(".")
        first = int(numbers[0])
        if self.ruleset.table == "shared":
            return kind == "switch" and first < self.bought[viewer.player]
        mine = kind in {"box", "replacement"} and self.owner[first] == viewer.player
        return mine and first in self.had_turn and first not in self.blind

    def secret_from(self, viewer: Viewer) -> list[Secret]:
        """The hidden cards that this viewer may not see."""
        may = {secret.commitment for secret in self.entitled(viewer)}
        return [secret for secret in self.hidden.values() if secret.commitment not in may]


class Guarded(Sealed):
    """Sealed cards that give out only what their asker may see."""

    def __init__(self, sealed: Sealed, allowed: set[str]) -> None:
        super().__init__()
        self._sealed = sealed
        self._allowed = allowed

    def open(self, commitment: str) -> SealedCard:
        assert commitment in self._allowed
        return self._sealed.open(commitment)

    def knows(self, commitment: str) -> bool:
        assert commitment in self._allowed
        return self._sealed.knows(commitment)


def texts(value: object) -> Iterator[str]:
    """Every text in a JSON value, names of members included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def leaks(value: object, secrets: list[Secret]) -> list[Secret]:
    """The secrets that a JSON value gives away."""
    written = json.dumps(value)
    said = set(texts(json.loads(written)))
    return [secret for secret in secrets if secret.card in said or secret.salt in written]


def with_misreads(table: RandomTable, every: int) -> Iterator[c.Command]:
    """The commands of a round; every so-manieth hidden card is first read as one that never came."""
    came = {cmd.card for cmd in table.commands if isinstance(cmd, (c.ScanCard, c.BurnCard))}
    never_came = [Card(number) for number in range(52) if Card(number) not in came]
    hidden = 0
    places = {event.scan_id: event.place for event in table.events if isinstance(event, e.CardScanned)}
    for command in table.commands:
        if isinstance(command, c.ScanCard) and command.card is not None and command.card_salt is not None:
            hidden += 1
            if hidden % every == 0 and never_came:
                wrong, salt = never_came.pop(), f"{hidden:032x}"
                yield replace(command, scan_id=f"misread-{hidden}", card=wrong, card_salt=salt)
                place = places[command.scan_id]
                yield c.RescanCard(command.scan_id, place, command.card, command.card_salt, by=command.by)
                continue
        yield command


class Audience:
    """Some viewers of one round; all that each has been shown, and what each may ever have seen."""

    def __init__(self, ruleset: Ruleset, players: tuple[str, ...]) -> None:
        self.ruleset = ruleset
        self.state = new_round(ruleset)
        self.sealed = Sealed()
        self.secrets = Secrets(ruleset)
        self.events: list[e.RoundEvent] = []
        people = tuple(Player(player) for player in (*players, "nobody"))
        self.viewers: tuple[Viewer, ...] = (*people, Dealer(), Operations(), Public())
        self.watches = {viewer: Watch(viewer) for viewer in self.viewers}
        self.shown: dict[Viewer, list[Shown]] = {viewer: [] for viewer in self.viewers}

    def play(self, command: c.Command) -> None:
        """Decide the command and check, event by event, what everybody is shown."""
        decision = decide(command, self.state, self.sealed)
        assert not isinstance(decision, Refusal), decision
        if isinstance(command, (c.ScanCard, c.RescanCard)) and command.card is not None and command.card_salt:
            self.sealed.add(command.card, command.card_salt)
        for event in decision:
            self.events.append(event)
            evolve(self.state, event)
            self.secrets.record(event, command)
            for viewer in self.viewers:
                self.check_event(viewer, event)
        for viewer in self.viewers:
            self.check_view(viewer)

    def guarded(self, viewer: Viewer) -> Sealed:
        return Guarded(self.sealed, {secret.commitment for secret in self.secrets.entitled(viewer)})

    def check_event(self, viewer: Viewer, event: e.RoundEvent) -> None:
        new = self.watches[viewer].see(event, len(self.events), self.state, self.guarded(viewer))
        self.shown[viewer] += new
        assert leaks([shown_object(shown) for shown in new], self.secrets.secret_from(viewer)) == []
        told = {private.place: private.card for shown in self.shown[viewer] for private in shown.cards}
        assert {secret.place: secret.card for secret in self.secrets.entitled(viewer)}.items() <= told.items()
        if self.ruleset.table == "shared":
            self.check_others(viewer, new)

    def check_others(self, viewer: Viewer, new: tuple[Shown, ...]) -> None:
        """What another player chose on a shared table comes no earlier than the close of its window."""
        closed = {type(event) for event in self.events}
        for shown in new:
            event = shown.event
            if not isinstance(event, (*CHOICES, *BETS)) or viewer == Player(event.player):
                continue
            if isinstance(event, BETS) and viewer == Operations():
                continue
            assert WINDOW_OF[type(event)] in closed or e.RoundCancelled in closed

    def check_view(self, viewer: Viewer) -> None:
        view = table_view(viewer, self.state, self.guarded(viewer))
        assert leaks(view, self.secrets.secret_from(viewer)) == []
        cards = view["cards"]
        assert isinstance(cards, dict)
        mine = {secret.place: secret.card for secret in self.secrets.entitled(viewer)}
        if isinstance(viewer, Player):
            assert set(entitled_places(self.state, viewer.player)) == set(mine)
        public = {place: card_text(card) for place, card in self.state.cards.items()}
        lying = {
            place for place, commitment in self.secrets.lying.items() if commitment in self.secrets.hidden
        }
        assert cards == dict.fromkeys(lying, "hidden") | public | mine

    def check_end(self) -> None:
        """Everybody has seen everything once, but what is others' alone; nothing is hidden any more."""
        assert self.secrets.hidden == {}
        for viewer, shown in self.shown.items():
            expected = [
                position
                for position, event in enumerate(self.events, 1)
                if not isinstance(event, (e.BetDeclined, e.PlayerSettled))
                or viewer in (Operations(), Player(event.player))
            ]
            assert sorted(item.position for item in shown) == expected


@pytest.mark.parametrize("ruleset_id", shipped_ids())
@settings(max_examples=12)
@given(
    seed=st.integers(0, 2**32 - 1),
    players=st.integers(1, 3),
    every=st.integers(1, 9),
    cancelled_at=st.one_of(st.none(), st.integers(2, 60)),
)
def test_7_no_viewer_is_shown_a_hidden_card_early(
    ruleset_id: str, seed: int, players: int, every: int, cancelled_at: int | None
) -> None:
    table = random_round(shipped(ruleset_id), seed, players)
    audience = Audience(table.ruleset, table.players)
    for number, command in enumerate(with_misreads(table, every)):
        if number == cancelled_at and audience.state.step != "settling":
            audience.play(c.CancelRound("technical_failure", "staff:s1"))
            break
        audience.play(command)
    audience.check_end()


@pytest.mark.parametrize("ruleset_id", shipped_ids())
def test_random_rounds_have_private_cards_of_every_kind(ruleset_id: str) -> None:
    """The property above would hold of rounds in which nobody may see anything."""
    kinds: set[str] = set()
    for seed in range(5):
        table = random_round(shipped(ruleset_id), seed, 3)
        audience = Audience(table.ruleset, table.players)
        audience.viewers = audience.viewers[:3]
        for command in with_misreads(table, 2):
            audience.play(command)
        for shown in (item for viewer in audience.viewers for item in audience.shown[viewer]):
            kinds |= {f"{type(shown.event).__name__} {card.place.split('.')[0]}" for card in shown.cards}
    shared = {"CardScanned switch", "CardRescanned switch"}
    private = {"OptionsOpened box", "CardScanned replacement", "CardRescanned replacement"}
    assert kinds == (shared if shipped(ruleset_id).shared else private)


def uses_of_sealed(source: str) -> list[str]:
    """What a source does with `sealed`: the names of the functions that it is given to, else the code."""
    tree = ast.parse(source)
    given = {
        argument: ast.unparse(call.func).split(".")[-1]
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for argument in call.args
    }
    loads = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "sealed"]
    return sorted(given.get(node, f"line {node.lineno}") for node in loads)


def test_only_the_entitlement_asks_the_sealed_cards() -> None:
    folder = Path(entitlement.__file__).parent
    uses = {path.name: uses_of_sealed(path.read_text(encoding="utf-8")) for path in folder.glob("*.py")}
    assert len(uses.pop("entitlement.py")) == 1
    assert {name: used for name, used in uses.items() if used} == {
        "events.py": ["_new_cards", "known_to", "see"],
        "table.py": ["known_to"],
    }


def test_the_search_finds_a_card_and_a_salt() -> None:
    secret = Secret("box.1.0", "Ah", "ab" * 16, commitment_of(Card(CARD_TEXTS.index("Ah")), "ab" * 16))
    for value in ({"a": ["x", {"b": "Ah"}]}, {"Ah": 1}, ["x" + "ab" * 16 + "y"]):
        assert leaks(value, [secret]) == [secret]
    opened = e.CardsRevealed((e.CardOpening("box.1.0", "Ah", salt="ab" * 16),), final=True)
    assert leaks(payload_of(opened), [secret]) == [secret]
    assert leaks({"a": ["Ad", "Ahh", 1, None, secret.commitment]}, [secret]) == []
