"""Parts and samples of traces, and merges of several; all take traces and return one."""
