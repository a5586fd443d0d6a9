"""Schedules: how TensorIR is rearranged for a target before it is lowered to loops."""
