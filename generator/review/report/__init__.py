"""The page about a site that `build --report` writes."""
