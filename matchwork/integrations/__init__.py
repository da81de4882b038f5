"""Adapters for other libraries, so that existing code changes one import."""
