"""Players' connections: WebSocket, JSON (docs/play.md).

`socket` lets them in, `connection` serves one, `hub` follows a table for all of them, `own_stream` one player
at one; `taking_over` has one connection a player over all instances. What messages do: `commands`.
"""
