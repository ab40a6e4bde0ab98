"""Who may open which page: every route of staff's pages has a line here, which a test holds.

`anyone`: nobody has to be signed in. `signed_in`: any member. Otherwise the roles, of which one is needed.
"""

from __future__ import annotations

from typing import Final, Literal

from upcard_gateway.domain.staff import Role

ANYONE: Final = "anyone"
SIGNED_IN: Final = "signed_in"

DEALER: Final[frozenset[Role]] = frozenset({"dealer"})
ADMIN: Final[frozenset[Role]] = frozenset({"admin"})
LOOKING: Final[frozenset[Role]] = frozenset({"shift_manager", "operations", "support", "auditor", "admin"})
FLOOR: Final[frozenset[Role]] = frozenset({"shift_manager", "operations", "admin"})
CHAT: Final[frozenset[Role]] = frozenset({"shift_manager", "admin"})
OPERATE: Final[frozenset[Role]] = frozenset({"operations", "admin"})
MONEY: Final[frozenset[Role]] = frozenset({"operations", "auditor", "admin"})

PAGES: Final[dict[str, frozenset[Role] | Literal["anyone", "signed_in"]]] = {
    "GET /static/{name}": ANYONE,
    "GET /staff/sign-in": ANYONE,
    "POST /staff/sign-in": ANYONE,
    "GET /staff/locked": ANYONE,
    "POST /staff/locked": ANYONE,
    "GET /staff/enrol": ANYONE,
    "POST /staff/enrol": ANYONE,
    "POST /staff/sign-out": ANYONE,
    "POST /staff/lock": SIGNED_IN,
    "GET /staff": SIGNED_IN,
    "GET /staff/me": SIGNED_IN,
    "POST /staff/me/sessions/{session}/end": SIGNED_IN,
    "GET /staff/api/me": SIGNED_IN,
    "POST /staff/api/here": SIGNED_IN,
    "GET /staff/people": ADMIN,
    "POST /staff/people": ADMIN,
    "GET /staff/people/{staff}": ADMIN,
    "POST /staff/people/{staff}/roles": ADMIN,
    "POST /staff/people/{staff}/reset": ADMIN,
    "POST /staff/people/{staff}/disable": ADMIN,
    "POST /staff/people/{staff}/enable": ADMIN,
    "POST /staff/people/{staff}/erase": ADMIN,
    "POST /staff/people/{staff}/sessions/end": ADMIN,
    "GET /staff/dealer": DEALER,
    "GET /staff/dealer/live": DEALER,
    "GET /staff/dealer/{table}": DEALER,
    "GET /staff/dealer/{table}/live": DEALER,
    "GET /staff/api/dealer/tables": DEALER,
    "GET /staff/api/dealer/tables/{table}": DEALER,
    "POST /staff/api/dealer/tables/{table}/{act}": DEALER,
    "GET /staff/chat": CHAT,
    "GET /staff/chat/live": CHAT,
    "GET /staff/chat/tables/{table}": CHAT,
    "GET /staff/chat/tables/{table}/live": CHAT,
    "POST /staff/chat/tables/{table}/lines/{line}": CHAT,
    "POST /staff/chat/players/{player}": CHAT,
    "POST /staff/chat/words": CHAT,
    "GET /staff/health": OPERATE,
    "GET /staff/health/live": OPERATE,
    "GET /staff/health/bets": OPERATE,
    "GET /staff/health/parked": OPERATE,
    "POST /staff/health/parked/retry": OPERATE,
    "POST /staff/health/parked/skip": OPERATE,
    "POST /staff/health/stopped/resume": OPERATE,
    "GET /staff/health/dead-letters": OPERATE,
    "GET /staff/health/partners/{operator}": OPERATE,
    "POST /staff/health/partners/{operator}/retry": OPERATE,
    "POST /staff/health/partners/{operator}/propose": OPERATE,
    "POST /staff/health/partners/{operator}/decide": OPERATE,
    "GET /staff/money": MONEY,
    "GET /staff/money/live": MONEY,
    "GET /staff/floor": LOOKING,
    "GET /staff/floor/live": LOOKING,
    "GET /staff/floor/tables/{table}": LOOKING,
    "GET /staff/floor/tables/{table}/live": LOOKING,
    "GET /staff/floor/open": FLOOR,
    "POST /staff/floor/open": FLOOR,
    "GET /staff/floor/tables/{table}/limits": FLOOR,
    "POST /staff/floor/tables/{table}/limits": FLOOR,
    "GET /staff/floor/tables/{table}/act/{name}": FLOOR,
    "POST /staff/floor/tables/{table}/act/{name}": FLOOR,
    "GET /staff/floor/corrections": LOOKING,
    "POST /staff/floor/corrections/{request_id}/again": FLOOR | {"support"},
    "POST /staff/floor/corrections/{request_id}/decide": frozenset({"operations", "admin"}),
    "GET /staff/floor/rounds/{name}/correct": FLOOR | {"support"},
    "POST /staff/floor/rounds/{name}/correct": FLOOR | {"support"},
    "GET /staff/significant": FLOOR | {"auditor"},
    "GET /staff/find": LOOKING,
    "GET /staff/rounds/{name}": LOOKING,
    "GET /staff/players/{player}": LOOKING,
}
