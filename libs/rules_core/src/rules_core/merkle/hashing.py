"""Hashes of leaves and nodes (RFC 9162, section 2.1.1)."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = sha256(b"").digest()
"""The root of a tree without leaves."""


def leaf_hash(item: bytes) -> bytes:
    """Hash an item as a leaf. Its prefix keeps a node from passing for a leaf."""
    return sha256(b"\x00" + item).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash two subtrees, each by its hash, as the node above them."""
    return sha256(b"\x01" + left + right).digest()
