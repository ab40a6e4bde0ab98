"""What the table service does, behind ports; no driver of a database and no transport."""
