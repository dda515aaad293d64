"""Every URL of the API, and the body that it answers."""
