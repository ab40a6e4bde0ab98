"""How our PostgreSQL is configured: for loopback, and as durable as in production."""

from __future__ import annotations

from pathlib import Path

from stack.ports import HOST

# Who may connect: whoever knows the password, from this machine.
HOST_BASED_ACCESS = """\
local   all          all                scram-sha-256
host    all          all  127.0.0.1/32  scram-sha-256
local   replication  all                scram-sha-256
host    replication  all  127.0.0.1/32  scram-sha-256
"""


def postgresql_conf(port: int, socket_folder: Path) -> str:
    """The text of `postgresql.conf`."""
    return f"""\
# Written at each start by the stack; changes are lost.
listen_addresses = '{HOST}'
port = {port}
unix_socket_directories = '{socket_folder}'
unix_socket_permissions = 0777
max_connections = 200

# Durable: a commit that was answered survives the loss of power. These are the defaults, written down so that
# nobody
# makes the tests fast by turning them off.
fsync = on
synchronous_commit = on
full_page_writes = on
wal_level = replica

shared_buffers = 128MB
max_wal_size = 1GB
min_wal_size = 80MB
max_prepared_transactions = 0

timezone = 'UTC'
log_timezone = 'UTC'
datestyle = 'iso, ymd'
lc_messages = 'C'
default_text_search_config = 'pg_catalog.simple'

logging_collector = off
log_destination = 'stderr'
log_line_prefix = '%m [%p] %q%u@%d '
log_checkpoints = on
log_lock_waits = on
"""
