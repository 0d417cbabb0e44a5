"""The orders in which policies keep what they are told of, and views of them ahead of time."""
