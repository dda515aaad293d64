"""Two releases -> what is different for those who read them: which answers, in which fields, and because of what."""
