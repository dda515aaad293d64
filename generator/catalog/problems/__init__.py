"""Problems of a catalog as messages with file, line and column."""
