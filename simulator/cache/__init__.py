"""The shared prefix cache: what was seen, what is resident, what a request is granted."""
