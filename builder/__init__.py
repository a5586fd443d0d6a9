"""Programs built step by step in Python: `BlockBuilder`, `relax.op`, rewriters and modules."""
