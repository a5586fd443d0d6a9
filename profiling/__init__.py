"""Where the time of a call goes: kernels, what they compute and move, and what the machine can."""
