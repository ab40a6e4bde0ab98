"""Watching a table: rounds folded from the committed log, shown to each watcher as far as they may see."""
