"""The category of the compiler's warnings."""


class XRelaxWarning(UserWarning):
    """A request was not fulfilled completely; the message is one line with the reason.

    ``warnings.simplefilter("error", XRelaxWarning)`` raises these warnings as errors.
    """
