"""The groups of subcommands, a file each; every file has `app`, which `upcard_operate.main` adds."""
