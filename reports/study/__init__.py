"""The request of a study: its file, its cells, their traffic and scenarios."""
