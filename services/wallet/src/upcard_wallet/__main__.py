"""Starts the wallet: `python -m upcard_wallet`."""

from importlib.metadata import version

from servicekit.lifecycle import run_service
from upcard_wallet.bootstrap import main
from upcard_wallet.settings import WalletSettings

if __name__ == "__main__":
    run_service(main, WalletSettings, name="wallet", version=version("upcard-wallet"))
