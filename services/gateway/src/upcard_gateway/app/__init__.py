"""What the edge does for whom; no HTTP, no gRPC, no Kafka."""
