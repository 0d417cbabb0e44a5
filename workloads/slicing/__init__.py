"""Parts of traces, samples of them, and several traces side by side: a Trace in, a Trace out."""
