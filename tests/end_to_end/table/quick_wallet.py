"""The wallet as `__main__` starts it, but with short pauses before a partner is told again."""

from __future__ import annotations

from functools import partial
from unittest import mock

from servicekit.lifecycle import run_service
from upcard_wallet import bootstrap
from upcard_wallet.adapters.seamless.settings import PartnerSettings
from upcard_wallet.settings import WalletSettings

QUICK = partial(
    PartnerSettings,
    first_pause_s=0.2,
    longest_pause_s=2.0,
    confirm_after_s=1.0,
    answer_margin_s=1.0,
    down_pause_s=0.5,
)

if __name__ == "__main__":
    with mock.patch.object(bootstrap, "PartnerSettings", QUICK):
        run_service(bootstrap.main, WalletSettings, name="wallet", version="test")
