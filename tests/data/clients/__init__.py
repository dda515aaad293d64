"""The requests and decoders of real apps, one module for each group of apps.

Each decoder is as strict as its app: a body that would crash the app or lose a series raises `Broken`.
"""
