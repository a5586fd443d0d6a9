"""The schedule primitives as methods of `Schedule`, and the trace that records their calls."""
