"""Operators, as they see themselves."""

from __future__ import annotations

from fastapi import APIRouter, Response

from upcard_gateway.entrypoints.http.edge import OnEdge, Signed, json_answer, responses
from upcard_platform.models.operators import Currency, Key, Operator

router = APIRouter(tags=["operator"])


@router.get("/v1/operator", response_model=Operator, responses=responses())
async def show(caller: Signed, edge: OnEdge) -> Response:
    """Who you are here: environment, wallet, currencies with limits, keys in force, the server's clock.

    The call to begin an integration with: whoever gets an answer signs rightly.
    """
    found = await edge.operators.operator(caller.operator)
    keys = found.keys_in_force if found is not None else ()
    terms = caller.terms
    return json_answer(
        Operator(
            operator=caller.operator,
            name=terms.name,
            environment=caller.environment,
            wallet=caller.wallet,
            currencies=[
                Currency(currency=one.currency, min_bet=one.min_bet, max_bet=one.max_bet)
                for one in terms.currencies
            ],
            addresses=list(terms.addresses),
            rate_per_s=terms.rate_per_s,
            rate_burst=terms.rate_burst,
            signed_with=caller.key_id,
            keys=[
                Key(
                    key=key.key_id,
                    algorithm=key.algorithm,
                    fingerprint=key.fingerprint,
                    added_at=key.added_at,
                )
                for key in keys
            ],
            time=edge.now(),
        )
    )
