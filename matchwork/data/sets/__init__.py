"""The data sets of the catalogue, one file each; importing the package registers them."""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    if _module.name != "short_lists":  # SciPy is slow to import
        import_module(f"{__name__}.{_module.name}")
