"""Why responses of a site may differ from those of the original service that it replaces."""
