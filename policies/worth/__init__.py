"""What a state is worth: how often, and how soon, prompts return to the points that it serves."""
