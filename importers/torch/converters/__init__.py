"""Converters of ATen operators, a file for each theme; `registry` finds them."""
