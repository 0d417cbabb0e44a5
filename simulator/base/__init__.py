"""Foundations without dependencies on the rest: errors, files, units, decoding."""
