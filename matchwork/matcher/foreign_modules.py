"""Modules outside matchwork that a saved matcher needs: imported only from installed packages."""

import sys
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from pathlib import Path

from matchwork.errors import FolderError
from matchwork.plugins import import_plugins, load_entry_points


def import_modules(modules: Iterable[str], folder: Path) -> None:
    """Import the modules that a matcher's folder names, so that its model is registered.

    Only modules of installed distributions are imported: a folder cannot make us run its code.

    Raises:
        FolderError: A module is neither imported already nor part of an installed distribution.
    """
    for name in modules:
        load_entry_points()
        if name in sys.modules:
            continue
        parts = name.split(".")
        if "__main__" in parts or parts[0] not in packages_distributions():
            raise FolderError(
                f"{folder}: the matcher needs the module {name!r}, which no installed package "
                "provides; pip install the package, or import the module before opening the folder"
            )
        import_plugins([name], f"{folder}")
