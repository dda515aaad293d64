"""The HTML page of `build --report`."""
