"""What every service needs around its work. No domain."""
