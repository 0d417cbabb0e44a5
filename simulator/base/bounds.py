"""Bounds of settings, shared by flags, study files, trace readers and generators."""

from __future__ import annotations

MAX_SEED = (1 << 63) - 1
MAX_BLOCK_TOKENS = 1 << 30
MIN_RATE_PER_SECOND, MAX_RATE_PER_SECOND = 1e-6, 1e6  # bounds for rates of requests and of sessions
MAX_BUDGET = 1_000_000  # largest number of checkpoints that a command accepts
MAX_REQUESTS = 10**8  # largest number of requests of generated traffic
