"""Generated from proto/upcard/gateway/v1; do not edit."""
