"""Commands that edit `catalog_src/`: new entries, ids, keys, views and imports."""
