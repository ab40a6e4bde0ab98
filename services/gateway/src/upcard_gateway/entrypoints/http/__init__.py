"""The platform API over HTTP."""
