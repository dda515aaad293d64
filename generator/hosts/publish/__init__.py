"""Send a release to other hosts: object stores and servers."""
