"""Cost profiles: those that are shipped, and the ways to make one.

Nothing but the standard library, numpy, scipy and torch is imported here, so that a machine with
a GPU needs no more.
"""
