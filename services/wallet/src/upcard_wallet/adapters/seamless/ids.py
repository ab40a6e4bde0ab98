"""Ids that partners know: each follows from what it stands for, and is the same for ever."""

from collections.abc import Iterable
from typing import Final
from uuid import UUID, uuid5

_PARTNERS: Final = UUID("5f1a3c0e-2b64-5d58-9a55-0d8f3e9c7b21")


def lane_of_round(account: str, round_: str) -> UUID:
    """The lane in which everything about one player and round is told to the partner, in order."""
    return uuid5(_PARTNERS, f"lane|{account}|{round_}")


def lane_of_credit(account: str, business_key: str) -> UUID:
    """The lane of a credit that belongs to no round: it waits for nothing."""
    return uuid5(_PARTNERS, f"credit-lane|{account}|{business_key}")


def bet_call(account: str, round_: str, bet_id: str) -> UUID:
    """The call that asks for one command's money."""
    return uuid5(_PARTNERS, f"bet|{account}|{round_}|{bet_id}")


def win_of_revision(account: str, round_: str, revision: int) -> UUID:
    """What a revision pays, as the partner knows it."""
    return uuid5(_PARTNERS, f"win|{account}|{round_}|{revision}")


def win_of_credit(account: str, business_key: str) -> UUID:
    """A credit as the partner knows it."""
    return uuid5(_PARTNERS, f"credit|{account}|{business_key}")


def rollback_call(undone: Iterable[UUID]) -> UUID:
    """The call that takes transactions back; for the partner it has no id but theirs."""
    return uuid5(_PARTNERS, "rollback|" + ",".join(sorted(str(one) for one in undone)))
