"""Results: figures of a cell, points of a study, differences between them, bounds."""
