"""A gateway over a real wallet, as in the tests of sessions."""

from tests.gateway.sessions.conftest import behind_template, casino, history, services, wallet

__all__ = ["behind_template", "casino", "history", "services", "wallet"]
