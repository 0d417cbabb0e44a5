"""Data structures in which eviction policies order entries, and read-only views of them."""
