"""What follows the wallet's own log: the audit, and the totals of books that nobody locks."""
