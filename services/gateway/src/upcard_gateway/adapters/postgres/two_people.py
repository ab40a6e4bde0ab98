"""Whether somebody can be the second of two people."""

from __future__ import annotations

import datetime as dt
from typing import Final

from eventstore.postgres import Connection

__all__ = ["enrolled_after"]

# Who has not enrolled since being added cannot be signed in; then the adding counts.
_AFTER: Final = "SELECT coalesce(enrolled_at, added_at) > $2 FROM gateway.staff WHERE staff = $1"


async def enrolled_after(connection: Connection, staff: str, moment: dt.datetime) -> bool:
    """Whether a member chose password and second factor after this moment, or nobody knows the member.

    Whoever adds or resets an account holds its one-time password. Were an account that was made or taken over
    after a proposal let to approve it, one admin could be both people.
    """
    return bool(await connection.fetchval(_AFTER, staff, moment) is not False)
