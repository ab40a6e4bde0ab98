"""The bonus service, over gRPC."""
