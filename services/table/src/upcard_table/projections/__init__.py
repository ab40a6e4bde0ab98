"""Views of the table service's own log, kept in its database."""
