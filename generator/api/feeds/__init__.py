"""Feeds, sitemaps, robots.txt and the OpenSearch description. `routes.PAGES` has every URL."""
