"""A prototype server: serves a trace through a real model and measures service times.

The model takes the place of the executor in a simulated replica. Cache and scheduler decide as in a
simulation, but their KV and states exist as tensors. So a comparison with a simulation tests costs,
not policies.
"""
