"""One file for each way to measure: passes, copies, graphs."""
