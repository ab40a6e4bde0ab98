"""Starts the bonus service: `python -m upcard_bonus`."""

from importlib.metadata import version

from servicekit.lifecycle import run_service
from upcard_bonus.bootstrap import main
from upcard_bonus.settings import BonusSettings

if __name__ == "__main__":
    run_service(main, BonusSettings, name="bonus", version=version("upcard-bonus"))
