"""The bounds of settings: one source for flags, study files, readers and generators."""

from __future__ import annotations

MAX_SEED = (1 << 63) - 1
MAX_BLOCK_TOKENS = 1 << 30
MIN_RATE_PER_SECOND, MAX_RATE_PER_SECOND = 1e-6, 1e6  # of requests, and of sessions
MAX_BUDGET = 1_000_000  # checkpoints, where a command takes a number of them
MAX_REQUESTS = 10**8  # of generated traffic
