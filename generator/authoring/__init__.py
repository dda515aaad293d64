"""Commands that change `catalog_src/` for people."""
