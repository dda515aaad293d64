"""How long building and answering take, on catalogs of any size. Apart from the tests: a slow machine fails nothing."""
