"""From timings to a cost form: fit, held-out error, bands. numpy and scipy only."""
