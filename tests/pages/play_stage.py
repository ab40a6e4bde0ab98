"""The players' page without services: rendered as it is, with a connection that a test speaks for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Final

import jinja2
from playwright.async_api import Page, Route, WebSocketRoute

from rules_core.rulesets.shipped import shipped, shipped_ids
from tests.pages.chromium import Browsing
from upcard_gateway.entrypoints.pages.english import English
from upcard_gateway.entrypoints.pages.frame import CONTENT_SECURITY_POLICY
from upcard_gateway.entrypoints.pages.static import load_static

HOST: Final = "play.test"
AT: Final = "2026-01-02T03:04:05.000Z"
PROGRESS: Final = ("betting", "options", "final_options", "purchase")
_PAGES: Final = files("upcard_gateway") / "pages"

Message = dict[str, Any]


def rendered(table: str = "") -> str:
    """The page as the gateway renders it."""
    english = English.load()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(_PAGES / "templates")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals.update(t=english, static=lambda name: f"/static/{name}")
    found = map(shipped, shipped_ids())
    return environment.get_template("play/play.html").render(
        theme="auto",
        words=english.part("play"),
        digits={"JPY": 0},
        rulesets={one.id: {"boxes": one.boxes, "shared": one.shared, "kinds": []} for one in found},
        table=table,
    )


@dataclass
class Stage:
    """One page, and what it said."""

    page: Page
    asked: list[Message] = field(default_factory=list)
    sockets: list[WebSocketRoute] = field(default_factory=list)
    refuse: dict[str, str] = field(default_factory=dict)
    """Type of message to the text of the refusal."""
    data: dict[str, Message] = field(default_factory=dict)
    """Type of message to what its answer brings."""
    welcome: Message = field(default_factory=dict)
    seq: int = 0

    def tell(self, kind: str, /, **fields: Any) -> None:
        """Send a message of the gateway's."""
        self.seq += 1
        channel = {"snapshot": "table", "table": "table", "window": "table", "chat": "chat"}.get(kind, "own")
        channel = channel if kind not in {"welcome", "answer", "balance", "bets", "ended"} else "none"
        numbered = {"seq": str(self.seq)} if kind in {"snapshot", "table", "own", "chat"} else {}
        message = {"type": kind, "channel": channel, "at": AT, "round": 7, **numbered, **fields}
        self.sockets[-1].send(json.dumps(message))

    def window(self, kind: str | None, *, box: int | None = None, left_ms: int = 20_000) -> None:
        """Say which window is open."""
        now = PROGRESS.index(kind) if kind else len(PROGRESS)
        status = [("over" if i < now else "open" if i == now else "ahead") for i in range(len(PROGRESS))]
        self.tell(
            "window",
            kind=kind,
            box=box,
            remaining_ms=left_ms,
            progress=[{"window": name, "status": one} for name, one in zip(PROGRESS, status, strict=True)],
        )

    def event(self, kind: str, /, **payload: Any) -> None:
        """Tell one event of the table."""
        self.tell("table", events=[{"round": 7, "position": self.seq, "type": kind, "payload": payload}])

    async def wait_asked(self, kind: str) -> Message:
        """What the page asked for of this type, at last."""
        for _ in range(1_200):
            for one in reversed(self.asked):
                if one["type"] == kind:
                    return one
            await self.page.wait_for_timeout(50)
        raise AssertionError(f"never asked for {kind}: {self.asked}")

    def take(self, text: str | bytes) -> None:
        """Answer what the page says."""
        asked = json.loads(text)
        self.asked.append(asked)
        if asked["type"] == "hello":
            bounds = {"message_bytes": 16384, "messages_per_s": 20.0, "silence_s": 60.0}
            self.tell("welcome", **{"viewing": False, "bounds": bounds, **self.welcome})
            return
        refused = self.refuse.get(asked["type"])
        self.tell(
            "answer",
            id=asked["id"],
            to=asked["type"],
            accepted=refused is None,
            reason=None if refused is None else "refused",
            text=refused,
            data=self.data.get(asked["type"]),
            staked=[
                {"box": one["box"], "wager": one["wager"], "amount": one["amount"]}
                for one in asked.get("placements", [])
            ],
            taken_back=[],
        )


async def staged(
    browsing: Browsing, *, where: str = "#launch_token=lt", welcome: Message | None = None, **look: Any
) -> Stage:
    """The page of a player who has just come in."""
    page = await browsing.page(**look)
    stage = Stage(page)
    stage.welcome = {
        "session": "s-1",
        "session_token": "st-1",
        "nickname": "Ann",
        "currency": "EUR",
        "language": "en",
        "cashier_url": "https://casino.example/cashier",
        "tips": True,
        **(welcome or {}),
    }
    static = load_static()

    async def served(route: Route) -> None:
        path = route.request.url.partition(HOST)[2].partition("?")[0].partition("#")[0]
        if path.startswith("/static/"):
            file = static[path.removeprefix("/static/")]
            await route.fulfill(body=file.body, content_type=file.media_type)
        elif path == "/play":
            await route.fulfill(
                body=rendered(),
                content_type="text/html",
                headers={"Content-Security-Policy": CONTENT_SECURITY_POLICY},
            )
        else:
            await route.fulfill(status=404)

    def opened(socket: WebSocketRoute) -> None:
        stage.sockets.append(socket)
        socket.on_message(stage.take)

    await page.route(f"http://{HOST}/**", served)
    await page.route_web_socket(f"ws://{HOST}/play/ws", opened)
    await page.goto(f"http://{HOST}/play{where}")
    return stage
