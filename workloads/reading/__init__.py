"""Reading of files within limits; every error becomes one clear line."""
