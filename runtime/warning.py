"""The category of warnings: something works, but not in the way that was asked for."""


class XRelaxWarning(UserWarning):
    """Not all is done as it was asked for; the message is one line that says what and why.

    ``warnings.simplefilter("error", XRelaxWarning)`` makes such places errors.
    """
