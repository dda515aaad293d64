"""What is wrong with a catalog, as sentences with their lines and columns."""
