"""What plug-ins promise, and what they are told."""
