"""A real prefix cache in small: a trace served by the model itself, and timed.

The model is the executor of the simulator's replica, whose cache and scheduler decide as in a
simulation; here the KV and the states that they decide about exist. So what is compared with a
simulation is cost, not policy.
"""
