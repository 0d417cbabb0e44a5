"""Hybrid models in torch, built from a geometry or loaded from a folder, and their caches."""
