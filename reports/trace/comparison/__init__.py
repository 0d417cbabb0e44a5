"""The comparison of two traces: their differences, and which of them may be chance."""
