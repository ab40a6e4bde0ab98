"""The table's calls and the shoe readers' (proto/upcard/table/v1)."""
