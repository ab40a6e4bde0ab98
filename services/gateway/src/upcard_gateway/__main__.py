"""Starts the gateway: `python -m upcard_gateway`."""

from importlib.metadata import version

from servicekit.lifecycle import run_service
from upcard_gateway.bootstrap import main
from upcard_gateway.settings import GatewaySettings

if __name__ == "__main__":
    run_service(main, GatewaySettings, name="gateway", version=version("upcard-gateway"))
