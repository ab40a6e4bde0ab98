"""Events from the log to Kafka and into other services' databases. No domain."""
