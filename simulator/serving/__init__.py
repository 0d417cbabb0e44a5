"""Who runs when: the clock and the servers."""
