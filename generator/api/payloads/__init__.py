"""What each resource looks like on the wire: one pure function a shape, keys in the order in which they are sent."""
