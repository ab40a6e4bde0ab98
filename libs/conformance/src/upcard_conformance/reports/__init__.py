"""A report in words, as JSON, and as JUnit's XML."""
