"""Compare two running sites: each response of both, each difference with its reason."""
