"""The computation of `milepost prototype`: measured times beside simulated ones."""
