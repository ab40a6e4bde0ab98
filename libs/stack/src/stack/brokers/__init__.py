"""Brokers: the small one of the embedded lane, Apache Kafka of the native lane."""
