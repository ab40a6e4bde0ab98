"""Exports: rows as CSV (RFC 4180) that a spreadsheet opens and never executes."""

from servicekit.csv_lines import Cell, csv_line, harmless
from upcard_history.entrypoints.exports.chunks import CHUNK_BYTES, Chunk, Sheet, in_chunks

__all__ = ["CHUNK_BYTES", "Cell", "Chunk", "Sheet", "csv_line", "harmless", "in_chunks"]
