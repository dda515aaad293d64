"""Announce the chapters that a release adds to the public, once."""
