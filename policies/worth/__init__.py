"""The worth of states: how often, and how soon, prompts return to the points that they serve."""
