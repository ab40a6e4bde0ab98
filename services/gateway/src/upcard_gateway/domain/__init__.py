"""What an operator, a session and a webhook are: events and decisions without a machine."""
