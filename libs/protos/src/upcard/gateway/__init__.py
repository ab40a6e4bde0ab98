"""Generated from proto/upcard/gateway; do not edit."""
