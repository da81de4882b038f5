"""Third-party code: packages that register models, losses, data sets or views of their own.

A package joins in one of two ways: its distribution declares an entry point of the group
`matchwork.plugins` that names a module, or a recipe lists the module in `import = ["my_package"]`.
Importing the module registers what it defines.
"""

from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import entry_points
from threading import RLock

from matchwork.errors import ConfigError

GROUP = "matchwork.plugins"
_lock = RLock()
_state = {"loaded": False}


def load_entry_points() -> None:
    """Import the modules that installed distributions declare, once per process."""
    with _lock:
        if _state["loaded"]:
            return
        _state["loaded"] = True  # before, since a plugin may look up names while it is imported
        for entry in entry_points(group=GROUP):
            try:
                entry.load()
            except Exception as error:
                _state["loaded"] = False
                package = entry.dist.name if entry.dist else entry.value
                raise ConfigError(
                    f"plugin {entry.name!r} of {package} cannot be loaded ({error}); "
                    f"upgrade it, or pip uninstall {package}"
                ) from error


def import_plugins(modules: Iterable[str], where: str = "import") -> None:
    """Import modules by name, so that what they register can be used.

    Args:
        modules: Dotted module names.
        where: Names the setting in messages ("recipe.toml: import").
    """
    for module in modules:
        try:
            import_module(module)
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"{where}: module {error.name!r} is not installed; install the package that "
                f"provides it, or leave {module!r} out"
            ) from error
        except Exception as error:
            raise ConfigError(f"{where}: {module!r} cannot be imported: {error}") from error
