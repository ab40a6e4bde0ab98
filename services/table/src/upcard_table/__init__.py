"""Tables and rounds: one owner a table decides, money held before stakes, every action an event."""
