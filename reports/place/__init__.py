"""The computation of `milepost place`: checkpoints for a law (distribution) of overlap depths."""
