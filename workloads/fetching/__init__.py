"""Public traces, downloaded and checked."""
