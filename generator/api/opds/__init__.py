"""Catalogs for e-readers: OPDS 1.2 with page streaming, OPDS 2.0, and Divina manifests. `app_routes` has every URL."""
