"""Read running sites: requests, their cache, and responses as values."""
