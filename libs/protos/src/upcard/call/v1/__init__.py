"""Generated from proto/upcard/call/v1; do not edit."""
