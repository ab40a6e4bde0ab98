"""Generated from proto/upcard/wallet/v1; do not edit."""
