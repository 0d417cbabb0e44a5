"""Charts of a trace, its memory use, and the comparison with a synthetic twin."""
