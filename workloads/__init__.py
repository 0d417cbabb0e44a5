"""Traces in and synthetic traffic: everything that becomes a `simulator.trace.Trace`."""
