"""Parts of formats that are too long for the one file of a format."""
