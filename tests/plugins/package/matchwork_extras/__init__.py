"""Import what registers itself."""

from matchwork_extras import (  # noqa: F401
    data_set,
    loss,
    measure,
    model,
    protocol,
    reader,
    sampler,
    tokenizer,
    view,
)
