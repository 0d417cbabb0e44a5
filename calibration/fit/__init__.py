"""Fitting of timings to the cost form: fit, held-out errors, uncertainty; numpy and scipy only."""
