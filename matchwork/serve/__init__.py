"""Matchers over HTTP, in the wire protocols that rerank clients already speak."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from matchwork.errors import MissingExtraError
from matchwork.packages import lazy_names

if TYPE_CHECKING:
    from matchwork.serve.app import create_app as create_app
    from matchwork.serve.process import serve as serve
    from matchwork.serve.settings import Settings as Settings

if not all(map(find_spec, ("fastapi", "uvicorn", "httptools", "prometheus_client"))):
    raise MissingExtraError("the service", "serve")

# Lazy: the parent of several workers never loads torch.
_HOMES = {"Settings": "settings", "create_app": "app", "serve": "process"}
__getattr__ = lazy_names(__name__, {name: f"{__name__}.{_HOMES[name]}" for name in _HOMES})
