"""The response bodies: one pure function per kind of body, with keys in the order in which they are sent."""
