"""Settings: from the environment, typed, bounded; secrets masked; a wrong one is a sentence."""

from servicekit.settings.environment import Settings
from servicekit.settings.loading import WrongSettings, load_settings, secrets_of, shown
from servicekit.settings.sections import BrokerSettings, DatabaseSettings, Port, ServiceSettings

__all__ = [
    "BrokerSettings",
    "DatabaseSettings",
    "Port",
    "ServiceSettings",
    "Settings",
    "WrongSettings",
    "load_settings",
    "secrets_of",
    "shown",
]
