"""A round in its owner's memory: loaded from the log, folded, indexed by what makes a command known again."""
