"""A second, slow implementation of the rules, written from RULES.md alone.

It shares no code and no table with `rules_core`, so that a mistake would have to be made twice to go unseen.
It is meant to be obviously right, not fast: hands are judged by trying every subset of their cards.
"""
