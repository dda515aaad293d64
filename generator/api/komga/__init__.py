"""Bodies of the read calls of Komga."""
