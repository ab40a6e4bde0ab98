"""The stack: servers that start, stop, survive what happens to them, and leave nothing behind."""
