from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import pytest

from tests.gateway.pages.signed_in import SignedIn, signed_in
from tests.gateway.staff.people import events_of
from tests.gateway.world import World
from upcard_gateway.domain.staff import StaffActionAnswered, StaffActionAsked
from upcard_gateway.entrypoints.pages import live as live_module
from upcard_gateway.entrypoints.pages.acting import acted
from upcard_gateway.entrypoints.pages.english import English, NoSuchText
from upcard_gateway.entrypoints.pages.frame import CONTENT_SECURITY_POLICY, PageProblem, Pages
from upcard_gateway.entrypoints.pages.guard import safe_next
from upcard_gateway.entrypoints.pages.live import LiveStreams, live

HOME = files("upcard_gateway") / "pages"
ATTRIBUTES = re.compile(r"""\s(?:title|alt|placeholder|aria-label)="([^"]*)\"""")
FILLED = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
SETTINGS = re.compile(r"[a-z-]+=\"[^\"]*\"")
"""Attributes that a macro makes, which stand in no tag of their own."""
TAGS = re.compile(r"<[^>]*>", re.DOTALL)
KEYS = re.compile(r"""\bt\(\s*"([a-z0-9_]+(?:\.[a-z0-9_]+)+)"\s*[,)]""")


def templates() -> Mapping[str, str]:
    """All templates by their names."""
    found: dict[str, str] = {}
    for area in (HOME / "templates").iterdir():
        for file in area.iterdir() if area.is_dir() else (area,):
            name = file.name if file is area else f"{area.name}/{file.name}"
            found[name] = file.read_text("utf-8")
    return found


def statics(kind: str) -> Mapping[str, str]:
    """All static files of a kind by their names."""
    files_ = (HOME / "static").iterdir()
    return {file.name: file.read_text("utf-8") for file in files_ if file.name.endswith(f".{kind}")}


@pytest.mark.parametrize("name", sorted(templates()))
def test_no_template_has_words_of_its_own(name: str) -> None:
    plain = FILLED.sub(" ", templates()[name])
    shown = SETTINGS.sub(" ", TAGS.sub(" ", plain))
    classes = set(re.findall(r"\.([a-z][a-z-]*)", " ".join(statics("css").values())))
    words = set(re.findall(r"[A-Za-z][A-Za-z-]+", shown)) - classes
    assert not words, "every word of a page lies in pages/english"
    assert not [text for text in ATTRIBUTES.findall(plain) if re.search(r"[A-Za-z]{2,}", text)]


@pytest.mark.parametrize("name", sorted(templates()))
def test_no_template_needs_what_the_policy_forbids(name: str) -> None:
    text = templates()[name]
    assert not re.search(r"\sstyle\s*=|<style|\son[a-z]+\s*=\s*[\"']|javascript:", text, re.IGNORECASE)
    for script in re.findall(r"<script([^>]*)>(.*?)</script>", text, re.DOTALL):
        assert "src=" in script[0], "a script is a file of ours"
        assert not script[1].strip()
    assert "| safe" not in text
    for form in re.findall(r"<form\b.*?</form>", text, re.DOTALL):
        if 'method="post"' in form:
            assert "form_fields()" in form, form[:120]


@pytest.mark.parametrize("name", sorted(templates()))
def test_every_text_that_a_template_names_is_there(name: str) -> None:
    english = English.load()
    for key in KEYS.findall(templates()[name]):
        assert english.has(key), key


@pytest.mark.parametrize("kind", ["css", "js", "html"])
def test_no_file_of_pages_is_long(kind: str) -> None:
    found = templates() if kind == "html" else statics(kind)
    assert not [name for name, text in found.items() if text.count("\n") >= 400]


@pytest.mark.parametrize("name", sorted(statics("js")))
def test_no_script_makes_code_of_text(name: str) -> None:
    assert not re.search(
        r"\beval\(|new Function|document\.write|setAttribute\(\"style\"", statics("js")[name]
    )


def test_a_text_says_what_is_missing() -> None:
    english = English({"a.b": "{name} is here", "a.c": {"one": "{n} hour", "other": "{n} hours"}})
    assert english("a.b", name="Sam") == "Sam is here"
    assert [english("a.c", n=number) for number in (1, 2)] == ["1 hour", "2 hours"]
    for key in ("a.b", "a.d"):
        with pytest.raises(NoSuchText, match=re.escape(key)):
            english(key)


@pytest.mark.parametrize(
    ("given", "goes"),
    [
        ("/staff/floor?a=b", "/staff/floor?a=b"),
        ("/staff", "/staff"),
        (None, "/staff"),
        ("https://elsewhere.example/staff/", "/staff"),
        ("//elsewhere.example/staff/", "/staff"),
        ("/staff/\\elsewhere.example", "/staff"),
        ("/staffing", "/staff"),
        ("/staff/" + "x" * 2_000, "/staff"),
        ("/staff/\r\nSet-Cookie: a=b", "/staff"),
    ],
)
def test_an_address_leads_nowhere_else_after_the_sign_in(given: str | None, goes: str) -> None:
    assert safe_next(given) == goes


async def test_a_page_says_what_a_browser_may_do_with_it(world: World) -> None:
    async with signed_in(world, "support") as staff:
        for path in ("/staff/me", "/staff/nowhere", "/staff/people"):
            answer = await staff.client.get(path)
            assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY, path
            assert answer.headers["cache-control"] == "private, no-store"
            assert answer.headers["x-content-type-options"] == "nosniff"


async def test_what_people_are_called_is_text_on_every_page(world: World) -> None:
    name = "<img src=x onerror=alert(1)>"
    async with signed_in(world, "admin", name=name) as staff:
        for path in ("/staff/me", "/staff/people", f"/staff/people/{staff.member.staff}"):
            answer = await staff.client.get(path)
            assert answer.status_code == 200, path
            assert name not in answer.text
            assert "&lt;img src=x" in answer.text


async def test_a_static_file_is_kept_for_as_long_as_its_address(world: World) -> None:
    client = await world.client()
    pages: Pages = world.app.state.pages
    address = f"/static/app.css?v={pages.static['app.css'].digest}"
    answer = await client.get(address)
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/css")
    again = await client.get("/static/app.css", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.headers["cache-control"]) == (304, "no-cache")
    for path in ("/static/nothing.css", "/static/..%2Fenglish%2Fframe.json", "/static/frame.json"):
        assert (await client.get(path)).status_code == 404


async def test_a_form_is_bounded_and_has_to_be_one(world: World) -> None:
    async with signed_in(world, "support") as staff:
        large = await staff.post("/staff/lock", {"more": "x" * 70_000})
        assert (large.status_code, "too large" in large.text) == (413, True)
        json_body = await staff.client.post("/staff/lock", json={"csrf": staff.csrf})
        assert json_body.status_code == 415
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        odd = await staff.client.post("/staff/lock", content=b"csrf=%ff&" + b"a=b&" * 600, headers=headers)
        assert odd.status_code == 400


async def _act(world: World, staff: SignedIn, done: list[str], **more: Any) -> str:
    async def work() -> str:
        done.append("done")
        return "as asked"

    asked: dict[str, Any] = {
        "action": "round.cancel",
        "subject": "t1:7",
        "reason": "the shoe fell",
        "request_id": "r-12345678",
        "work": work,
        **more,
    }
    return await acted(world.edge, staff.member, **asked)


async def test_an_action_is_recorded_before_it_is_done_and_with_what_came_of_it(world: World) -> None:
    async with signed_in(world, "shift_manager") as staff:
        done: list[str] = []
        assert await _act(world, staff, done) == "as asked"
        assert await _act(world, staff, done) == "as asked", (
            "a repeated post goes through; its call is the same"
        )
        asked, answered = await events_of(world, staff.member.staff)
        assert asked == StaffActionAsked(
            staff.member.staff, staff.member.session, "round.cancel", "t1:7", "the shoe fell", "r-12345678"
        )
        assert answered == StaffActionAnswered(staff.member.staff, "round.cancel", "r-12345678", "done")
        with pytest.raises(PageProblem, match="request_reused"):
            await _act(world, staff, done, subject="t1:8")
        assert done == ["done", "done"]


async def test_an_action_that_fails_is_recorded_as_that(world: World) -> None:
    async def refused() -> str:
        raise PageProblem(409, "frame.not_found")

    async def broken() -> str:
        raise OSError("the disk is full")

    async with signed_in(world, "shift_manager") as staff:
        with pytest.raises(PageProblem):
            await _act(world, staff, [], work=refused, request_id="r-11111111")
        with pytest.raises(OSError, match="disk"):
            await _act(world, staff, [], work=broken, request_id="r-22222222")
        with pytest.raises(PageProblem, match="form_unreadable"):
            await _act(world, staff, [], request_id="short")
        results = [
            event.result
            for event in await events_of(world, staff.member.staff)
            if isinstance(event, StaffActionAnswered)
        ]
        assert results == ["refused: not_found", "failed: OSError"]


class _Request:
    """As much of a request as a stream looks at."""

    def __init__(self, world: World, token: str) -> None:
        self.app = world.app
        self.cookies = {"upcard-staff": token}
        self.url: Any = type("Url", (), {"path": "/staff/floor/live"})
        self.state = type("State", (), {})()


async def test_a_stream_sends_what_changed_and_ends_with_the_session(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "BEAT_S", 0.0)
    async with signed_in(world, "support") as staff:
        given = [{"a": "1", "b": "1"}, {"a": "1", "b": "2"}, {"a": "1", "b": "2"}, {"a": "1"}]

        async def regions() -> dict[str, str]:
            if not given:
                await staff.post("/staff/sign-out")
                return {"a": "1"}
            return given.pop(0)

        request = _Request(world, staff.token)
        response = live(request, staff.member, regions, 0.2)  # type: ignore[arg-type]  # a part of a request
        told: list[tuple[str, Any]] = []
        async with asyncio.timeout(60):
            async for part in response.body_iterator:
                lines = bytes(part).decode().split("\n")  # type: ignore[arg-type]  # bytes, as it makes them
                if lines[0].startswith("event: "):
                    told.append(
                        (lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: ")))
                    )
        assert told[:2] == [
            ("regions", {"changed": {"a": "1", "b": "1"}, "gone": []}),
            ("regions", {"changed": {"b": "2"}, "gone": []}),
        ]
        assert told[2][0] == "beat"
        assert told[3] == ("regions", {"changed": {}, "gone": ["b"]})
        assert told[-1] == ("ended", {"state": "none"})
        streams: LiveStreams = world.app.state.pages.streams
        streams.begin(staff.member.staff)  # the one that ended is not counted any more


async def test_a_live_region_is_known_by_its_address(world: World) -> None:
    async def regions() -> dict[str, str]:
        return {}

    async with signed_in(world, "support") as staff:
        request = _Request(world, staff.token)
        request.url.path = "/staff/floor/now"
        with pytest.raises(RuntimeError, match="ends with /live"):
            live(request, staff.member, regions, 0.2)  # type: ignore[arg-type]  # a part of a request


def test_streams_are_bounded_for_each_and_for_all() -> None:
    streams = LiveStreams(most=3, most_of_one=2)
    streams.begin("s1")
    streams.begin("s1")
    with pytest.raises(PageProblem, match="too_many_live"):
        streams.begin("s1")
    streams.begin("s2")
    with pytest.raises(PageProblem, match="too_many_live"):
        streams.begin("s3")
    streams.end("s1")
    streams.begin("s3")
