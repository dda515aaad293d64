"""`dist/` on the disk: manifest, bodies, releases."""
