"""How a service ends, for whoever started it."""

import enum


class ExitCode(enum.IntEnum):
    """A service's exit status. One that a second signal forced is 128 and the signal's number: 130, 143."""

    STOPPED = 0
    """Told to stop, and everything stopped in its order and in time."""
    FAILED = 1
    """Something that has to run ended, or an exception that nobody expected."""
    WRONG_SETTINGS = 2
    """Settings are missing or wrong; standard error has a sentence for each."""
    NOT_STARTED = 3
    """What it needs is not there or not fit: no database, migrations missing, a clock that is off."""
    STOPPED_BADLY = 4
    """Told to stop, but a stage failed at it or was late."""


class StartRefused(Exception):
    """The service must not or cannot start; the text says why and what to do, without secrets."""


class WorkEnded(Exception):
    """Work that has to go on for as long as the service does has come to an end."""
