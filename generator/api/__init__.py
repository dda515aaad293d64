"""Every URL of the API and its response body."""
