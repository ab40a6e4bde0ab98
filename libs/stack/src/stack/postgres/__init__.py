"""PostgreSQL: the server of the embedded and native lanes, and databases in any server."""
