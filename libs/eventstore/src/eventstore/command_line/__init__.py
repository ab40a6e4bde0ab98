"""The command line of the event store."""

from eventstore.command_line.main import main

__all__ = ["main"]
