"""Measurements that take minutes: figures on real rigs and recordings, one script a question.

Run by `python3 dev.py trial NAME`; each prints a table and the worst value beside its limit, and exits with 1 where a
limit is missed. They are not part of the test command.
"""
