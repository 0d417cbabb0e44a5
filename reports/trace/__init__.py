"""A trace in words and on a page, and its twin."""
