"""One module for each command. Only these modules read the clock and the environment."""
