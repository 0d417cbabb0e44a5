"""Execution of a study: workers here or on a cluster, warm-up, replications."""
