"""Pages of the kinds that do not build a report yet."""
