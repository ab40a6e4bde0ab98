"""The reading of the views: the statements, and the answers made of them."""
