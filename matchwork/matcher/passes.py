"""Batches of pairs through a model, and what comes out of it in the order of the pairs."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch

from matchwork.encode import Encoded
from matchwork.matcher.distinct import batches_by_document, encode_distinct, read_before
from matchwork.matcher.pair_rows import PairRows
from matchwork.matcher.threads import in_threads
from matchwork.models import MatchOutput, bi_encoded
from matchwork.text import batches_by_length
from matchwork.text.batch import Ids
from matchwork.types import Scores

if TYPE_CHECKING:
    from matchwork.matcher.matcher import Matcher

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
    each = in_threads if matcher.is_transformer and device.type == "cpu" else map
    # Encoding each text once pays for transformers, where it is nearly all of the work.
    if not (matcher.is_transformer and bi_encoded(model)):

        def score(batch: Ids) -> Output:
            with matcher.scoring():
                return batch, MatchOutput(model.scores(rows.take(batch).gather().to(device)))

        yield from each(score, batches_by_length(*rows.lengths, *limits))
        return

    def read_queries(chosen: Ids) -> Encoded:
        with matcher.scoring():
            return encode_distinct(model, rows.queries, chosen, device)

    lengths, dim = rows.queries.lengths, model.encoder.dim
    query_of = read_before(read_queries, rows.query_rows, lengths, dim, limits, each)

    def match(batch: Ids) -> Output:
        pairs = rows.take(batch)
        with matcher.scoring():
            document = encode_distinct(model, pairs.documents, pairs.document_rows, device)
            return batch, MatchOutput(model.match(query_of(pairs.query_rows), document).scores)

    yield from each(match, batches_by_document(*rows.lengths, rows.document_rows, *limits))


def collect(
    outputs: Iterable[Output],
    num_pairs: int,
    progress: Progress | None = None,
    read: Callable[[MatchOutput], torch.Tensor] = lambda output: output.scores,
) -> Scores:
    """Return what `read` takes from the outputs, in the order of the pairs.

    It leaves the device once, at the end. Pairs without an output get NaN.
    """
    places: list[Ids] = []
    parts: list[torch.Tensor] = []
    for batch, output in outputs:
        places.append(batch)
        parts.append(read(output).double())
        if progress:
            progress(len(batch))
    if not parts:
        return np.full(num_pairs, np.nan)
    found = torch.cat(parts).cpu().numpy()
    ordered = np.full((num_pairs, *found.shape[1:]), np.nan)
    ordered[np.concatenate(places)] = found
    return ordered
