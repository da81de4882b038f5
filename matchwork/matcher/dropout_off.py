"""Switch dropout off while a model scores, also when several threads score with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import NamedTuple
from weakref import WeakKeyDictionary

from matchwork.models import Model


class _Use(NamedTuple):
    num_users: int
    was_training: bool


_lock = Lock()
_uses: WeakKeyDictionary[Model, _Use] = WeakKeyDictionary()


@contextmanager
def dropout_off(model: Model) -> Iterator[None]:
    """Switch dropout off for the first user of the model, and back on after the last."""
    with _lock:
        use = _uses.get(model) or _Use(0, model.training)
        if not use.num_users:
            model.eval()
        _uses[model] = use._replace(num_users=use.num_users + 1)
    try:
        yield
    finally:
        with _lock:
            use = _uses.pop(model)
            if use.num_users > 1:
                _uses[model] = use._replace(num_users=use.num_users - 1)
            else:
                model.train(use.was_training)
