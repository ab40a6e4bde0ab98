"""What history stands on: its database, and metrics."""
