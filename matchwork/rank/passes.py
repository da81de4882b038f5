"""Batches of pairs through a model, and what comes out of it in the order of the pairs."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch

from matchwork.models import MatchOutput
from matchwork.rank.distinct import batches_by_document, encode_distinct, reads_once
from matchwork.rank.pair_rows import PairRows
from matchwork.rank.threads import in_threads
from matchwork.text import batches_by_length
from matchwork.text.batch import Ids
from matchwork.types import Scores

if TYPE_CHECKING:
    from matchwork.rank.matcher import Matcher

Progress = Callable[[int], None]
Output = tuple[Ids, MatchOutput]
"""Of one batch, with the places of its pairs."""


def whole_outputs(matcher: "Matcher", rows: PairRows) -> Iterator[Output]:
    """All that the model says of the pairs; large, so none is computed before it is asked for."""
    for batch in batches_by_length(*rows.lengths, *matcher.batch_limits()):
        with matcher.scoring():
            output = matcher.model(rows.take(batch).gather().to(matcher.device))
        yield batch, output


def scores_only(matcher: "Matcher", rows: PairRows) -> Iterator[Output]:
    """Scores without evidence; of a transformer that reads texts apart, each text once."""
    model, device, limits = matcher.model, matcher.device, matcher.batch_limits()
    if reads_once(model):
        batches = batches_by_document(*rows.lengths, rows.document_rows, *limits)
    else:
        batches = batches_by_length(*rows.lengths, *limits)

    def forward(batch: Ids) -> Output:
        pairs = rows.take(batch)
        with matcher.scoring():
            if not reads_once(model):
                return batch, MatchOutput(model.scores(pairs.gather().to(device)))
            query = encode_distinct(model, pairs.queries, pairs.query_rows, device)
            document = encode_distinct(model, pairs.documents, pairs.document_rows, device)
            return batch, MatchOutput(model.match(query, document).scores)

    threads = matcher.is_transformer and device.type == "cpu"
    yield from in_threads(forward, batches) if threads else map(forward, batches)


def collect(
    outputs: Iterable[Output],
    progress: Progress | None = None,
    read: Callable[[MatchOutput], torch.Tensor] = lambda output: output.scores,
) -> Scores:
    """What is read, in the order of the pairs; it leaves the device once, at the end."""
    places: list[Ids] = []
    parts: list[torch.Tensor] = []
    for batch, output in outputs:
        places.append(batch)
        parts.append(read(output).double())
        if progress:
            progress(len(batch))
    if not parts:
        return np.empty(0)
    found = torch.cat(parts).cpu().numpy()
    ordered = np.empty_like(found)
    ordered[np.concatenate(places)] = found
    return ordered
