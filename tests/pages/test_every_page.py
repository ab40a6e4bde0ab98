"""Every page of staff's in Chromium, on real services and with real ids: it opens, and nothing complains.

In light and dark, and on a telephone, where a table may scroll by itself and the page may not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pytest
from playwright.async_api import Page, expect

from tests.end_to_end.gateway.dealing import ante
from tests.end_to_end.gateway.processes import SEAMLESS, until
from tests.gateway.pages.authorisation import ANYONE, PAGES, SIGNED_IN
from tests.pages import staff
from tests.pages.chromium import NARROW, WIDE, Browsing
from tests.pages.house import RunningHouse
from upcard_gateway.adapters.floor_acts import ACTS
from upcard_gateway.domain.staff import ROLES, Role

pytestmark = pytest.mark.pages

TABLE: Final = "p-every"
MONEY: Final = 100_000
TOO_WIDE: Final = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
STICKING_OUT: Final = """() => [...document.querySelectorAll("main *, header *")]
    .filter(one => one.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
    .filter(one => !one.closest(".scrolls") && ![...one.children].some(
        child => child.getBoundingClientRect().right >= one.getBoundingClientRect().right - 0.5))
    .slice(0, 3).map(one => one.outerHTML.slice(0, 120))"""
"""What is too wide, innermost first."""
_NO_PAGES: Final = ("/static/", "/staff/api/")
_WAYS_IN: Final = ("/staff/sign-in", "/staff/locked", "/staff/enrol")
"""Nobody who is signed in sees them: they have a test of their own."""


@dataclass(frozen=True, slots=True)
class Known:
    """What there is to be looked at."""

    number: int
    player: str
    staff: str

    def paths(self, role: Role | None = None) -> Iterator[str]:
        """Every page that a role may open, with ids in place of their names; None: all."""
        for line, who in PAGES.items():
            method, _, path = line.partition(" ")
            open_to_it = role is None or who in {ANYONE, SIGNED_IN} or role in who
            if method != "GET" or not open_to_it or path in _WAYS_IN:
                continue
            if not path.startswith(_NO_PAGES) and not path.endswith("/live"):
                yield from self._filled(path)

    def _filled(self, path: str) -> Iterator[str]:
        path = path.replace("/rounds/{name}", f"/rounds/{TABLE}.{self.number}")
        ids = {"table": TABLE, "player": self.player, "staff": self.staff, "operator": SEAMLESS}
        for name in ACTS if "/act/{name}" in path else ("",):
            yield path.format(name=name, **ids)


async def played(house: RunningHouse) -> tuple[int, str]:
    """A round that somebody has played, and who: the same one for all tests here."""
    table = await house.table(TABLE)
    found: tuple[int, str] | None = getattr(table, "played_by", None)
    if found is None:
        player = (await house.launched("every-page", money=MONEY)).player_ref

        async def bet(number: int) -> None:
            assert await table.bet(number, player, ante(2)) == "accepted"

        async def choose(number: int) -> None:
            assert await table.choose_bet(number, player, 2) == "accepted"

        number = await table.play({"betting": bet, "options": choose})
        found = number, player
        table.played_by = found  # type: ignore[attr-defined]  # remembered where the table is
    return found


async def known_to_all(page: Page, house: RunningHouse, known: Known) -> None:
    """Wait until the history has followed: what it does not know yet is answered 404."""
    for path in (f"/staff/rounds/{TABLE}.{known.number}", f"/staff/players/{known.player}"):

        async def status(path: str = path) -> int:
            return (await page.request.get(f"{house.url}{path}")).status

        await until(f"{path} is known", status, lambda found: found == 200)


async def looked_at(browser: Browsing, page: Page, url: str, path: str, picture: str | None) -> list[str]:
    """Open a page in all sizes and colours; what is wrong with it."""
    wrong: list[str] = []
    before = len(browser.complaints)
    answer = await page.goto(f"{url}{path}")
    status = None if answer is None else answer.status
    if status != 200:
        wrong.append(f"{path}: status {status}")
    if picture is not None:
        await browser.both(page, picture)
    await page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    too_wide = await page.evaluate(TOO_WIDE)
    if too_wide > 0:
        sticking_out = await page.evaluate(STICKING_OUT)
        wrong.append(f"{path}: {too_wide} px wider than a telephone: {sticking_out}")
    if picture is not None:
        await browser.both(page, f"{picture}-narrow")
    await page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    return [*wrong, *(f"{path}: {one}" for one in browser.complaints[before:])]


async def test_every_page_opens_in_light_and_dark_and_on_a_telephone(
    browser: Browsing, house: RunningHouse
) -> None:
    number, player = await played(house)
    page = await browser.page()
    member = await staff.signed_in(house, page, *ROLES, name="Alex Everything")
    known = Known(number, player, member.staff)
    await known_to_all(page, house, known)
    wrong: list[str] = []
    for path in known.paths():
        name = "every" + path.removeprefix("/staff").replace(known.staff, "member").replace("/", "-")
        wrong += await looked_at(browser, page, house.url, path, name.replace(known.player, "player"))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("role", ROLES)
async def test_every_role_opens_its_pages(browser: Browsing, house: RunningHouse, role: Role) -> None:
    number, player = await played(house)
    page = await browser.page()
    member = await staff.signed_in(house, page, role, name="Sam Oneword")
    known = Known(number, player, member.staff)
    if any(path.startswith("/staff/rounds/") for path in known.paths(role)):
        await known_to_all(page, house, known)
    wrong: list[str] = []
    for path in known.paths(role):
        wrong += await looked_at(browser, page, house.url, path, None)
    assert not wrong, "\n".join(wrong)


async def test_the_ways_in_are_pages_as_well(browser: Browsing, house: RunningHouse) -> None:
    page = await browser.page()
    wrong = await looked_at(browser, page, house.url, "/staff/sign-in", "every-sign-in")
    member = await staff.added(house, "support")
    await page.locator("#name").fill(member.sign_in_name)
    await page.locator("#password").fill(member.password)
    await page.locator("main form button").click()
    await expect(page.locator("#secret")).to_be_visible()
    wrong += await looked_at(browser, page, house.url, "/staff/enrol", "every-enrol")
    other = await browser.page()
    await staff.signed_in(house, other, "support")
    await other.goto(f"{house.url}/staff/me")
    await other.get_by_role("button", name="Lock").click()
    await expect(other.locator("#password")).to_be_visible()
    wrong += await looked_at(browser, other, house.url, "/staff/locked", "every-locked")
    wrong += await looked_at(browser, other, house.url, "/play", "every-play")
    assert not wrong, "\n".join(wrong)


def test_all_pages_are_among_them() -> None:
    known = Known(7, "p-1", "s-1")
    paths = set(known.paths())
    assert {
        f"/staff/rounds/{TABLE}.7",
        f"/staff/floor/rounds/{TABLE}.7/correct",
        "/staff/players/p-1",
    } <= paths
    assert {f"/staff/floor/tables/{TABLE}/act/{name}" for name in ACTS} <= paths
    assert not any("{" in path or path.endswith("/live") for path in paths)
    assert paths == {path for role in ROLES for path in known.paths(role)}
