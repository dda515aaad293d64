"""The response bodies: one pure function per kind of body, with keys in the order in which they are sent.

`resources` has the types of which bodies, URLs and redirects are made, and knows none of the others.
"""
