"""Exports for hosts that serve files: one module for each host, and what they share."""
