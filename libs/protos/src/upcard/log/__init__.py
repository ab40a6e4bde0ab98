"""Generated from proto/upcard/log; do not edit."""
