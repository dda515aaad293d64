"""Compare two releases as clients see them: changed responses, changed fields, and what caused each change."""
