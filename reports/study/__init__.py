"""What a study asks for: its file, its cells, their traffic and scenarios."""
