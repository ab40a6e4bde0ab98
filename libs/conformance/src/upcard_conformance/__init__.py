"""Whether a partner's wallet does what it has to."""
