"""Generated from proto/upcard/bonus; do not edit."""
