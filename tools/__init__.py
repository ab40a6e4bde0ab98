"""What the repository's upkeep needs; nothing of the product imports it."""
