"""Import a running site into a catalog."""
