"""The wallet's rules as pure functions and values: ids, holds, what a settlement posts, the events."""
