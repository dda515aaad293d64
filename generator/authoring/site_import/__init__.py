"""A running site -> a catalog."""
