"""`milepost prototype`: measured times beside simulated ones."""
