"""Positions of a run's checkpoints: histograms, words, and the engine setting nearest to it."""

from reports.results.positions.figures import flat_positions, positions_of

__all__ = ["flat_positions", "positions_of"]
