"""Policies: where to checkpoint, what to admit, what to evict. One file a policy."""
