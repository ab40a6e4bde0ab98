"""Chats for shift managers: what is said, who may not chat, words that nobody may say.

Whatever is done here is an action with its reason. What is said is in no event: actions name lines by number.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from upcard_gateway.adapters.postgres.chat import PostgresChat
from upcard_gateway.adapters.postgres.chat_moderation import PostgresModeration
from upcard_gateway.app.chat import blocked_word
from upcard_gateway.app.chat_moderation import ModeratedLine
from upcard_gateway.domain.chat import WORD_MAX, WORD_MIN
from upcard_gateway.entrypoints.http.edge import Edge, edge_of
from upcard_gateway.entrypoints.pages.acting import checked_reason
from upcard_gateway.entrypoints.pages.frame import (
    Member,
    PageProblem,
    acted,
    form_of,
    fragment,
    live,
    needs,
    page,
)

router = APIRouter(include_in_schema=False)

ChatKeeper = Annotated[Member, needs("shift_manager", "admin")]

EVERY_S: Final = 1.0
TABLES_SHOWN: Final = 100
LINES_SHOWN: Final = 100
STANDINGS_SHOWN: Final = 100
WORDS_SHOWN: Final = 500
OF_PLAYER: Final = 12
MUTES: Final = (15, 60, 24 * 60, 7 * 24 * 60)
"""For how many minutes a player can be muted."""

_is_id: Final = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch
_is_line: Final = re.compile(r"[1-9][0-9]{0,15}").fullmatch
_PATH: Final = "/staff/chat"

Work = Callable[[], Awaitable[bool]]


@router.get("/staff/chat")
async def chats(request: Request, member: ChatKeeper) -> Response:
    """Tables where people talk, who may not chat, blocked words."""
    edge = edge_of(request)
    words = await PostgresModeration(edge.pool).words(WORDS_SHOWN)
    return page(
        request, member, "chat/tables.html", words=words, least=WORD_MIN, most=WORD_MAX, **await _tables(edge)
    )


@router.get("/staff/chat/live")
async def chats_live(request: Request, member: ChatKeeper) -> Response:
    """The same, as it changes."""
    edge = edge_of(request)

    async def regions() -> dict[str, str]:
        return {"chat-tables": fragment(request, "chat/_tables.html", **await _tables(edge))}

    return live(request, member, regions, EVERY_S)


@router.get("/staff/chat/tables/{table}")
async def chat_of_table(request: Request, member: ChatKeeper, table: str, line: str = "") -> Response:
    """A table's chat, and what can be done about the line that was chosen."""
    edge, name = edge_of(request), _checked(table)
    chosen, others = None, []
    if _is_line(line):
        moderation = PostgresModeration(edge.pool)
        chosen = await moderation.line(name, int(line))
        if chosen is not None:
            others = [
                one
                for one in await moderation.of_player(chosen.player, OF_PLAYER)
                if (one.table, one.line) != (chosen.table, chosen.line)
            ]
    return page(
        request,
        member,
        "chat/table.html",
        chosen=chosen,
        others=others,
        mutes=MUTES,
        muted=chosen is not None and _is_muted(chosen, edge.now()),
        **await _lines(edge, name, chosen),
    )


@router.get("/staff/chat/tables/{table}/live")
async def chat_of_table_live(request: Request, member: ChatKeeper, table: str, line: str = "") -> Response:
    """The same chat, as it goes on."""
    edge, name = edge_of(request), _checked(table)
    chosen = int(line) if _is_line(line) else 0

    async def regions() -> dict[str, str]:
        shown = await _lines(edge, name, None)
        return {"chat-lines": fragment(request, "chat/_lines.html", **{**shown, "chosen_line": chosen})}

    return live(request, member, regions, EVERY_S)


@router.post("/staff/chat/tables/{table}/lines/{line}")
async def act_on_line(request: Request, member: ChatKeeper, table: str, line: str) -> Response:
    """Take a line away, or do something about whoever said it."""
    edge, name = edge_of(request), _checked(table)
    form = await form_of(request, member)
    if not _is_line(line):
        raise PageProblem(404, "chat.line_unknown")
    found = await PostgresModeration(edge.pool).line(name, int(line))
    if found is None:
        raise PageProblem(404, "chat.line_unknown")
    store, do, reason = PostgresChat(edge.pool), form.get("do", ""), checked_reason(form)
    if do == "remove":
        removing = Action("remove_chat_line", f"{name}/{line}", reason)
        await _do(request, member, form, removing, lambda: store.remove(name, found.line, edge.now()))
    else:
        action, work = _about_player(store, member, edge, found.player, do, reason)
        await _do(request, member, form, action, work)
    return RedirectResponse(f"{_PATH}/tables/{quote(name)}?line={line}", 303)


@router.post("/staff/chat/players/{player}")
async def act_on_player(request: Request, member: ChatKeeper, player: str) -> Response:
    """Let a player chat again, or not."""
    edge, name = edge_of(request), _checked(player)
    form = await form_of(request, member)
    action, work = _about_player(
        PostgresChat(edge.pool), member, edge, name, form.get("do", ""), checked_reason(form)
    )
    await _do(request, member, form, action, work)
    return RedirectResponse(_PATH, 303)


@router.post("/staff/chat/words")
async def act_on_word(request: Request, member: ChatKeeper) -> Response:
    """Block a word, or let it be said again."""
    form = await form_of(request, member)
    reason, word = checked_reason(form), blocked_word(form.get("word", ""))
    if not WORD_MIN <= len(word) <= WORD_MAX:
        raise PageProblem(422, "chat.word_wrong", least=WORD_MIN, most=WORD_MAX)
    store = PostgresChat(edge_of(request).pool)
    if form.get("do") == "unblock":
        action = Action("unblock_chat_word", word, reason)
        await _do(request, member, form, action, lambda: store.unblock(word))
    else:
        action = Action("block_chat_word", word, reason)
        await _do(request, member, form, action, lambda: store.block(word, member.staff))
    return RedirectResponse(f"{_PATH}#words", 303)


class Action:
    """What a member does, for the log."""

    def __init__(self, name: str, subject: str, reason: str) -> None:
        self.name = name
        self.subject = subject
        self.reason = reason


def _about_player(
    store: PostgresChat, member: Member, edge: Edge, player: str, do: str, reason: str
) -> tuple[Action, Work]:
    """What is done about a player. Raises PageProblem: there is no such thing."""
    now, by = edge.now(), member.staff
    kind, _, minutes = do.partition("-")
    if kind == "mute" and minutes in {str(one) for one in MUTES}:
        until = now + dt.timedelta(minutes=int(minutes))
        return Action("mute_player", player, reason), lambda: store.mute(player, until, by, reason, now)
    if do == "unmute":
        return Action("unmute_player", player, reason), lambda: store.mute(player, None, by, reason, now)
    if do in ("revoke", "restore"):
        revoked = do == "revoke"
        return Action(f"{do}_chat", player, reason), lambda: store.revoke(
            player, by, reason, now, revoked=revoked
        )
    raise PageProblem(422, "chat.nothing_to_do")


async def _do(request: Request, member: Member, form: dict[str, str], action: Action, work: Work) -> None:
    edge = edge_of(request)

    async def nothing() -> bool:
        return False  # a form that comes again must not undo what was done since

    await acted(
        edge,
        member,
        action=action.name,
        subject=action.subject,
        reason=action.reason,
        request_id=form.get("request_id", ""),
        work=work,
        told=lambda done: "done" if done else "nothing to do",
        again=nothing,
    )
    table_chat = getattr(request.app.state, "table_chat", None)
    if table_chat is not None:
        table_chat.forget_words()
        table_chat.look()


async def _tables(edge: Edge) -> dict[str, Any]:
    moderation, now = PostgresModeration(edge.pool), edge.now()
    return {
        "tables": await moderation.tables(now, TABLES_SHOWN),
        "standings": await moderation.standings(now, STANDINGS_SHOWN),
        "now": now,
    }


async def _lines(edge: Edge, table: str, chosen: ModeratedLine | None) -> dict[str, Any]:
    lines = await PostgresModeration(edge.pool).lines(table, LINES_SHOWN)
    now = edge.now()
    return {
        "table": table,
        "lines": [(one, _is_muted(one, now)) for one in lines],
        "chosen_line": 0 if chosen is None else chosen.line,
    }


def _is_muted(line: ModeratedLine, now: dt.datetime) -> bool:
    return line.muted_until is not None and line.muted_until > now


def _checked(name: str) -> str:
    if not _is_id(name):
        raise PageProblem(404, "frame.not_found")
    return name
