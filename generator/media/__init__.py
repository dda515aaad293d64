"""The media of a site: the files that a catalog names, in a folder and on a server."""
