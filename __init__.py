"""xrelax: a machine-learning compiler that can be read from end to end."""
