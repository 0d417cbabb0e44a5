"""Timers for passes, copies and CUDA graphs."""
