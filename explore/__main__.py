"""`python -m xrelax.explore`: the same as `xrelax-explore`."""

from .command import main

main()
