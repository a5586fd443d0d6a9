"""Math functions as branch-free code for scalars and vectors: what `docs/math.md` lists."""
