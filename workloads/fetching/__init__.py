"""Download and verification of public traces."""
