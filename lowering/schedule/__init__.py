"""Schedules: transformations of TensorIR for a target, before it is lowered to loops."""
