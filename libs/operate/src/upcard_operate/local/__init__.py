"""Everything on one machine: the embedded servers and all services as processes."""
