"""Servers that are processes of this machine: started under a guard, stopped, killed, found again."""
