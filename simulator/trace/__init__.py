"""Traces: request columns, a prefix tree of all prompts, and allowed checkpoint positions."""
