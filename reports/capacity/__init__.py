"""Search for the least memory that meets a target, with evidence, prices and variations."""
