"""One row a request, and what is summed up of them."""
