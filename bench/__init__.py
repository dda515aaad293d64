"""How long building takes, on catalogs of any size. Apart from the tests: nothing here can fail."""
