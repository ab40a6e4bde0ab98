"""The messages of a player's connection, `/play/ws`: what either side may say (docs/play.md)."""

from upcard_platform.play.asked import *  # noqa: F403 - it has its own list of names
from upcard_platform.play.asked import __all__ as _asked
from upcard_platform.play.shown import *  # noqa: F403 - likewise
from upcard_platform.play.shown import __all__ as _shown
from upcard_platform.play.told import *  # noqa: F403 - likewise
from upcard_platform.play.told import __all__ as _told

__all__ = [*_asked, *_shown, *_told]  # noqa: PLE0604 - lists of texts, joined
