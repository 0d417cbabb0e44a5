"""`milepost place`: checkpoints for a law of overlaps."""
