"""Starts the history: `python -m upcard_history`. With arguments it is a command line (`--help`)."""

import sys
from importlib.metadata import version

from servicekit.lifecycle import run_service
from upcard_history.bootstrap import main
from upcard_history.entrypoints import command_line
from upcard_history.settings import HistorySettings

if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(command_line.main(sys.argv[1:]))
    run_service(main, HistorySettings, name="history", version=version("upcard-history"))
