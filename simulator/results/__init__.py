"""The results of a simulation: one record per request, counters, load and a summary."""
