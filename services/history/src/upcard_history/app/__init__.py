"""What history keeps, what it can be asked, and how rounds are replayed; no gRPC, no Kafka."""
