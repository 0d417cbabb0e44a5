"""Trace formats by name, one file each. The stricter stand first: see `TraceFormat.matches`."""

from workloads.formats.format import TraceFormat
from workloads.formats.mooncake import MOONCAKE

FORMATS: dict[str, TraceFormat] = {format.name: format for format in (MOONCAKE,)}
