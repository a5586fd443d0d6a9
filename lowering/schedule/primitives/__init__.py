"""The schedule primitives as methods: what they do, and the trace of what was done."""
