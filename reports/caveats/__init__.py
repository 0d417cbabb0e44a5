"""Caveats of a report: sentences on what limits its figures, with one wording for each fact."""

from reports.caveats.budgets import LostToRandom, budgeted, lost_to_random
from reports.caveats.evidence import corrected, intervals
from reports.caveats.foresight import looking_ahead
from reports.caveats.load import not_served, overloaded
from reports.caveats.profiles import PROFILE_KINDS, extrapolated, lossy, profile_caveats, times_from
from reports.caveats.traces import coarse_clock, granularity, noted, trace_caveats
from reports.caveats.warmup import warmup

__all__ = [
    "PROFILE_KINDS",
    "LostToRandom",
    "budgeted",
    "coarse_clock",
    "corrected",
    "extrapolated",
    "granularity",
    "intervals",
    "looking_ahead",
    "lossy",
    "lost_to_random",
    "not_served",
    "noted",
    "overloaded",
    "profile_caveats",
    "times_from",
    "trace_caveats",
    "warmup",
]
