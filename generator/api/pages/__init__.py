"""Pages for readers: HTML from the same catalog as the API. `page_routes` has their URLs, `templates/` the markup."""
