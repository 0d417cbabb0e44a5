"""Costs in bytes and seconds: model geometry, cost profiles, and the cost model."""
