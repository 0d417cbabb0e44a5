"""Drift studies: whether the law of overlaps moves, and what it takes to follow it."""
