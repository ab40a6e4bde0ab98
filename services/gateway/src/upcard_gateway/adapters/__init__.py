"""The database, and the services behind."""
