"""Converters of ATen operators, a file for each family; `registry` imports them."""
