"""Native names of functions."""


def native_symbol(name: str) -> str:
    """The native symbol of a function of the module.

    A C identifier has no dot, so a function called "exp" is never mistaken for the C library's.
    """
    return f"xrelax.{name}"
