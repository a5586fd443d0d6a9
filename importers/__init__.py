"""Models of other frameworks as modules: each front end is imported when it is used."""
