"""What everything stands on: errors, files, units, decoding."""
