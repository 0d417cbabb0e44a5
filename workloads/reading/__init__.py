"""Files read within limits: whatever is wrong with one becomes one clear line."""
