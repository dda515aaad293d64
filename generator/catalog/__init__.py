"""YAML files -> a checked and linked catalog as of an instant."""
