"""Placeholder until its helper delivers."""
from configaudit.extract.process import nothing
MARKERS = ()
def read(*a): return None if "engines" in __name__ else nothing()
def read_tree(*a): return nothing()
def read_process(*a): return []
def duplicate_keys(*a): return []
