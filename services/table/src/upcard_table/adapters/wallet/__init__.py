"""The wallet service, over gRPC."""
