"""Synthetic twins: traces that behave like another in a cache, made from its statistics.

`fit` turns a trace into a small set of aggregates, `generate` these and a seed into a trace.
"""

from workloads.twin.fitting import fit
from workloads.twin.generating import generate
from workloads.twin.stats import TwinStats, read_stats, write_stats

__all__ = ["TwinStats", "fit", "generate", "read_stats", "write_stats"]
