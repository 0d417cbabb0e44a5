"""Drift studies: whether the distribution of overlaps changes, and how often to plan anew."""
