"""Interfaces of other libraries, so that existing code swaps one import."""
