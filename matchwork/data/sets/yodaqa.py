"""YodaQA: factoid questions and Wikipedia sentences, labelled by answer patterns."""

from matchwork.data.catalogue import CATALOGUE, CatalogueEntry, Counts

CATALOGUE.add(
    "yodaqa",
    CatalogueEntry(
        title="YodaQA curatedv1-val: 87 questions, about 200 sentences each",
        folder="yodaqa_curatedv1_val",
        splits={
            "train": Counts(52, 9886, 467),
            "dev": Counts(17, 4119, 173),
            "test": Counts(18, 3400, 142),
        },
        protocol="has-positive",
        measures=("RR", "AP", "P@1"),
        licence="sentences from Wikipedia, CC BY-SA",
        citation="Baudis et al.: Sentence pair scoring, 2016",
        notes="Labels come from answer patterns and are noisy; too small for training claims. "
        "The split is ours, by question.",
    ),
)
