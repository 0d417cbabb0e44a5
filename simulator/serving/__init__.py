"""Replicas, schedulers, executors, routers and the clock."""
