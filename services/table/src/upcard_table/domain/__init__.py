"""What a table is: its configuration, commands, events and state; pure, on rules_core alone."""
