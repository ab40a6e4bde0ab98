"""The database: the log and the tables beside it."""
