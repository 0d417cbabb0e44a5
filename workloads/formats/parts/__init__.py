"""Parts of trace formats that are too long for one file."""
