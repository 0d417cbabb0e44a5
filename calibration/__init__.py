"""Cost profiles: shipped ones, and tools to measure, compose or estimate them.

Requires only the standard library, numpy, scipy and torch, so that it runs on a GPU machine
without the other dependencies.
"""
