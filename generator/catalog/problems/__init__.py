"""A whole catalog is read and checked; its problems get a line, a column and a link to the documentation."""
