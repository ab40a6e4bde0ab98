"""A dealer at the console: does what it says is to be done next, by its calls, and nothing else."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from upcard_operate.demo.casino import new_id
from upcard_operate.demo.house import DemoFailed
from upcard_operate.demo.pages import Staff

LOOK_S: Final = 0.2
"""Pause between two looks at the console."""
ROUND_S: Final = 180.0
"""Longest that a round may take."""
_ACTS: Final = {
    "take_table": "sign_in",
    "bring_deck": "introduce_deck",
    "verify_deck": "verify_deck",
    "shuffle_deck": "shuffle_deck",
    "confirm": "confirm_cards",
}
"""What the console asks for, and the act that does it."""


class Console:
    """A dealer at one table."""

    def __init__(self, staff: Staff, table: str) -> None:
        self._staff = staff
        self._table = table
        self._path = f"/staff/api/dealer/tables/{table}"

    async def take_over(self) -> None:
        """Sign in at the table, and bring and verify a deck. Raises DemoFailed."""
        async with asyncio.timeout(ROUND_S):
            while (wanted := await self._look())["kind"] != "shuffle_deck":
                await self._follow(wanted)

    async def deal(self) -> int:
        """Deal a round, from the shuffle to its end; its number. Raises DemoFailed."""
        number = 0
        async with asyncio.timeout(ROUND_S):
            while True:
                wanted = await self._look()
                if wanted["kind"] == "open_round":
                    number = (await self._do("open_round"))["round"]
                elif number and wanted["kind"] == "shuffle_deck":
                    return number
                else:
                    await self._follow(wanted)

    async def leave(self) -> None:
        """Sign out of the table, for the next dealer. Raises DemoFailed."""
        await self._do("sign_out")

    async def _look(self) -> dict[str, Any]:
        """What is to be done now."""
        now = await self._staff.call(self._path)
        found: dict[str, Any] = {
            **now["next"],
            "round": 0 if now["round"] is None else now["round"]["number"],
        }
        return found

    async def _follow(self, wanted: dict[str, Any]) -> None:
        act = _ACTS.get(wanted["kind"])
        if act is None:
            if wanted["by_dealer"]:
                raise DemoFailed(f"{self._table}: this dealer does not know what {wanted['kind']} means")
            await asyncio.sleep(LOOK_S)
        elif act == "introduce_deck":
            await self._do(act, deck=f"deck-{self._table}")
        elif act in {"verify_deck", "shuffle_deck"}:
            await self._do(act, deck=wanted["deck"])
        elif act == "confirm_cards":
            await self._do(act, may_miss=True, round=wanted["round"])
        else:
            await self._do(act)

    async def _do(self, act: str, *, may_miss: bool = False, **fields: object) -> dict[str, Any]:
        answer = await self._staff.do(f"{self._path}/{act}", {"request_id": new_id(), **fields})
        if answer["result"] != "done" and not may_miss:
            raise DemoFailed(f"{self._table}: {act} is refused: {answer['reason']}: {answer['text']}")
        return answer
