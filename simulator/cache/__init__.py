"""The prefix cache of one replica: matching, storing, evicting."""
