"""Hybrid models in torch: built from a geometry or a folder, and their caches."""
