"""Bytes and seconds: model geometry, cost profiles, and their prices."""
