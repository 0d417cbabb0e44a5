"""A cost profile as figures and charts."""
