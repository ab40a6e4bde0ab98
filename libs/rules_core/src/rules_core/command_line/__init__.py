"""The program: reads files, draws random numbers, prints; decides nothing (docs/command-line.md)."""
