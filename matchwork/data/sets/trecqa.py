"""TrecQA: questions of the TREC QA tracks and sentences of newswire articles."""

from matchwork.data.catalogue import CATALOGUE, CatalogueEntry, Counts

CATALOGUE.add(
    "trecqa",
    CatalogueEntry(
        title="TrecQA: factoid questions and newswire sentences, raw and clean",
        folder="trecqa",
        splits={
            "train": Counts(1229, 53417, 6403),
            "train94": Counts(93, 4718, 348),
            "dev": Counts(81, 1148, 222),
            "test": Counts(95, 1517, 284),
            "dev-clean": Counts(65, 1117, 205),
            "test-clean": Counts(68, 1442, 248),
        },
        protocol="has-positive",
        licence="none stated; TREC newswire, research only",
        citation="Wang, Smith, Mitamura: What is the Jeopardy model?, EMNLP-CoNLL 2007",
        notes="train is TRAIN-ALL and contains train94. Positives come first in the files: "
        "file order scores AP 1.0. 89 raw test questions have a positive, 68 are clean.",
    ),
)
