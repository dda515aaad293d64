"""Publish to object stores that speak S3, in two layouts: plain keys, and packs."""
