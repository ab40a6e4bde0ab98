"""Messages and services of Upcard, generated from proto/."""
