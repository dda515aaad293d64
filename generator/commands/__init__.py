"""One module for each command. Only these modules read the clock; few others read the environment."""
