"""What apps in the field send and how they read the answers, one module a group of them.

Each decodes as strictly as the app does: what would lose a series or crash there is a `Broken` here.
"""
