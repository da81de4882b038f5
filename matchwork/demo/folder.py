"""Where a demo leaves what it made."""

from pathlib import Path


class DemoFolder:
    """Names of what lies in `out`."""

    out: Path

    @property
    def matcher_folder(self) -> Path:
        """The saved matcher (of the first seed)."""
        return self.out / "matcher"

    @property
    def report(self) -> Path:
        """The page with everything on it."""
        return self.out / "report.html"
