"""The demo: a real matcher trained, compared with BM25, explained and saved, in minutes."""

from matchwork.demo.run import DemoResult, run_demo

__all__ = ["DemoResult", "run_demo"]
