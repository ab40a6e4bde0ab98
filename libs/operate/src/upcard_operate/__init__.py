"""The command line `upcard` for people who operate it, and everything on one machine."""
