"""YAML 1.2: read with positions, write, and edit hand-written text. Independent of the catalog."""
