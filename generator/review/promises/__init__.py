"""The promises of the API, one check for each, and which of them each host cannot keep."""
