"""Rulesets: what each house decides about the game, as versioned, immutable data (RULES.md section 6).

`model` has the words, `parse` reads a house's own file, `shipped` gives the five that come with the package.
"""
