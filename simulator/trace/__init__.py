"""A trace: request columns over an interned prefix tree, and where checkpoints may lie in it."""
