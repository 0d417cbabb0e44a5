"""`milepost trace compare`: what changed from one trace to another, and what may be chance."""
