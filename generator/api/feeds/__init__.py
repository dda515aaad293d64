"""Feeds, sitemaps, robots.txt and the OpenSearch description. `page_routes.PAGES` has every URL."""
