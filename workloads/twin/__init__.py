"""Synthetic twins: traces that behave like a given one in a cache, drawn from its statistics.

`fit` reduces a trace to a small set of aggregates; `generate` turns these and a seed into a trace.
"""

from workloads.twin.fitting import fit
from workloads.twin.generating import generate
from workloads.twin.stats import TwinStats, read_stats, write_stats

__all__ = ["TwinStats", "fit", "generate", "read_stats", "write_stats"]
