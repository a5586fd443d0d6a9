"""The explorer: one page that shows every stage of a compilation, and where each line comes from.

``xrelax-explore FILE`` serves it on this machine, or writes it to a file.
"""
