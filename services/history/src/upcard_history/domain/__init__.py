"""What other services' events say, as facts that views are made of: pure, and of one stream at a time."""
