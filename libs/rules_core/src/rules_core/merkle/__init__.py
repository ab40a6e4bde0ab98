"""Merkle trees of RFC 9162: what proves that a list holds an item, and that a list was only ever added to.

Pure functions over hashes. Whoever keeps a tree keeps the hashes of its perfect subtrees; whoever checks a
proof needs nothing but the proof. Sizes and indices count leaves, indices from 0.
"""

from rules_core.merkle.consistency import ProofOfGrowth, check_consistency, consistency_ranges
from rules_core.merkle.frontier import Frontier
from rules_core.merkle.hashing import EMPTY_ROOT, HASH_BYTES, leaf_hash, node_hash
from rules_core.merkle.inclusion import check_inclusion, inclusion_ranges
from rules_core.merkle.multiproof import check_multiproof, multiproof_ranges
from rules_core.merkle.subtrees import Range, Subtree, fold, subtrees_of

__all__ = [
    "EMPTY_ROOT",
    "HASH_BYTES",
    "Frontier",
    "ProofOfGrowth",
    "Range",
    "Subtree",
    "check_consistency",
    "check_inclusion",
    "check_multiproof",
    "consistency_ranges",
    "fold",
    "inclusion_ranges",
    "leaf_hash",
    "multiproof_ranges",
    "node_hash",
    "subtrees_of",
]
