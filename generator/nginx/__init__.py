"""The configuration that serves a release, the shim inside nginx, and a running nginx."""
