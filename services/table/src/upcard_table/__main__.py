"""Starts the table service: `python -m upcard_table`."""

from importlib.metadata import version

from servicekit.lifecycle import run_service
from upcard_table.bootstrap import main
from upcard_table.settings import TableSettings

if __name__ == "__main__":
    run_service(main, TableSettings, name="table", version=version("upcard-table"))
