"""YAML 1.2: reading with positions, writing, and small edits of people's text. Knows no comics."""
