"""A cost profile in words and on a page."""
