"""The owner of a table: one task that decides all its commands, in their order, and appends what queued."""
