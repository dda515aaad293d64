"""Commands that edit `catalog_src/`: new entries, ids, keys and views."""
