"""Others' choices of a shared table, hidden until their window closes: RULES.md sections 4.3, 4.6 and 4.8.

Nothing that a viewer is shown may depend on them: the same round is played with each choice, and compared.
"""

from __future__ import annotations

import pytest

from rules_core.round import commands as c
from rules_core.views.viewers import Dealer, Operations, Player, Public, Viewer
from tests.rules_core.views_rounds import HandPlayed, hand


def shared_table() -> HandPlayed:
    table = HandPlayed("live-shared@1")
    table.bet("p1", 2)
    table.bet("p2", 2)
    return table


def shared_windows() -> list[list[HandPlayed]]:
    """One list a window of a shared table: the same round but for what p1 has just chosen."""
    options, finals, purchases = [], [], []
    pair = hand("box.2", "Ah As")
    for kind, positions in (("bet", ()), ("sixth", ()), ("exchange", (0, 3)), ("fold", ())):
        table = shared_table()
        table.deal(pair)
        table.option("p1", 2, kind, *positions)  # type: ignore[arg-type]  # the four options
        options.append(table)
    for choice in ("bet", "fold"):
        table = shared_table()
        table.deal(pair)
        table.close()
        table.lay()
        table.confirm()
        table.final("p1", 2, choice)
        finals.append(table)
    for bought in (True, False):
        table = shared_table()
        table.deal(pair)
        for player in ("p1", "p2"):
            table.option(player, 2, "bet")
        table.close()
        table.lay()
        table.confirm()
        table.proceed()
        ids = table.new_id()
        table.do(c.MakePurchase("p1", 2, ids, table.now) if bought else c.DeclinePurchase("p1", 2, table.now))
        purchases.append(table)
    return [options, finals, purchases]


@pytest.mark.parametrize("viewer", [Player("p2"), Player("p3"), Dealer(), Operations(), Public()])
def test_4_3_what_others_choose_in_a_shared_window_changes_nothing_that_is_seen(viewer: Viewer) -> None:
    for window in shared_windows():
        assert len({table.state.step for table in window}) == 1
        assert [table.view(viewer) for table in window] == [window[0].view(viewer)] * len(window)
        assert [table.shown(viewer) for table in window] == [window[0].shown(viewer)] * len(window)
        assert window[0].view(Player("p1")) != window[1].view(Player("p1"))
