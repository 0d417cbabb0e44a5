"""Sessions: how their rows add up to prompts, and when their turns arrive."""
