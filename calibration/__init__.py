"""Cost profiles (bytes and seconds of a model on a device): shipped, measured or estimated.

Requires only the standard library, numpy, scipy and torch, so that it runs on a GPU machine
without the other dependencies.
"""
