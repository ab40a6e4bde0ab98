"""Logs: one line of JSON an event, with the ids of the work it belongs to, bounded, without secrets.

Code logs with `structlog.get_logger("name")`; what libraries log with the standard library comes out alike.
"""

from servicekit.logging.configuration import Logging, configure_logging
from servicekit.logging.redaction import MASK, Redactor
from servicekit.logging.rendering import LineLimits, Renderer
from servicekit.logging.writer import LineWriter

__all__ = ["MASK", "LineLimits", "LineWriter", "Logging", "Redactor", "Renderer", "configure_logging"]
