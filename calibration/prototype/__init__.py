"""A real prefix cache in small: a trace served by the model itself, and timed.

What to keep is decided by `simulator.cache.policy_cache.PolicyCache`, as in a simulation; here the
KV and the states that it decides about exist. So what is compared with a simulation is cost, not
policy.
"""
