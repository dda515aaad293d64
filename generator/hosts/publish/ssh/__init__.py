"""Send a release and images to a server, through one process of the system's ssh."""
