"""The floor's pages and the log of significant events."""
