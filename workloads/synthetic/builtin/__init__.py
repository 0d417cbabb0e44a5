"""The built-in workload: questions about shared documents, system prompts, and chats."""

from __future__ import annotations

from simulator.trace.trace import Trace
from workloads.arrivals import Poisson
from workloads.synthetic.builtin.spec import BuiltIn, SyntheticSpec

__all__ = ["BuiltIn", "SyntheticSpec", "generate"]


def generate(spec: SyntheticSpec) -> Trace:
    """Generate a trace, exact to the token, whose labels are the kinds of traffic."""
    return spec.assembled(spec.requests, spec.seed, Poisson(spec.rate_per_second))
