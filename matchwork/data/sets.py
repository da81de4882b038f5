"""The catalogued data sets. Counts are those of the releases, checked whenever a set is read."""

from matchwork.data import sources
from matchwork.data.catalogue import CATALOGUE, CatalogueEntry, Counts
from matchwork.data.dataset import Dataset
from matchwork.data.lcs import lcs
from matchwork.data.toy import toy

CLASSIFICATION = ("Accuracy", "macro-F1", "F1")


def _pydocs() -> Dataset:
    # Imported only when asked for: making the set walks every installed package.
    from matchwork.data.pydocs import build

    return build()


CATALOGUE.add(
    "wikiqa",
    CatalogueEntry(
        title="WikiQA: questions from a search log and sentences of one Wikipedia page",
        folder="wikiqa",
        splits={
            "train": Counts(2118, 20360, 1040),
            "dev": Counts(296, 2733, 140),
            "test": Counts(633, 6165, 293),
        },
        protocol="has-positive",
        licence="Microsoft Research Data License: research only, same terms when passed on",
        citation="Yang, Yih, Meek: WikiQA, EMNLP 2015",
        notes="243 test questions have a positive. The order of the sentences alone beats BM25. "
        "One question is in both train and test.",
    ),
)

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

CATALOGUE.add(
    "insuranceqa-v2",
    CatalogueEntry(
        title="InsuranceQA V2: consumer questions over 27,413 answers",
        folder="insuranceqa_v2",
        source=sources.insuranceqa,
        splits={
            "train": Counts(12889, 21325, 21325, documents=27413),
            "dev": Counts(2000, 3354, 3354, documents=27413),
            "test": Counts(2000, 3308, 3308, documents=27413),
        },
        measures=("P@1", "RR", "AP"),
        options={"pool": ("pool500", "pool100", "five", "full"), "insert_truth": (False, True)},
        licence="as is, research only",
        citation="Feng et al.: Applying deep learning to answer selection, ASRU 2015",
        notes="Official Solr pools; 375 of 2,000 test pools of 500 lack every answer unless "
        "insert_truth adds them. V1 papers report P@1 on pools that contain the truth. "
        "pool=five is the first answer of each question and four drawn from BM25's best 1,000 "
        "for that answer.",
    ),
)

CATALOGUE.add(
    "twitterurl",
    CatalogueEntry(
        title="TwitterURL: tweets that link to the same page, paraphrase or not",
        folder="twitterurl",
        source=sources.twitterurl,
        splits={
            "train": Counts(3199, 38039, 9976),
            "dev": Counts(359, 4161, 1191),
            "test": Counts(771, 9324, 1820),
        },
        task="classification",
        measures=CLASSIFICATION,
        licence="CC BY-NC-SA 3.0 and Twitter's terms",
        citation="Lan et al.: A continuously growing dataset of sentential paraphrases, EMNLP 2017",
        notes="dev is our cut: a tenth of the 42,200 training pairs by hash of the anchor. Test is "
        "the published 9,324 pairs. Pairs listed again, some with the other label, are kept apart.",
    ),
)

CATALOGUE.add(
    "quora",
    CatalogueEntry(
        title="Quora question pairs: dev and test of the BiMPM partition",
        folder="quora",
        splits={"dev": Counts(10000, 10000, 5000), "test": Counts(10000, 10000, 5000)},
        task="classification",
        measures=CLASSIFICATION,
        licence="Quora's terms, non-commercial",
        citation="Wang, Hamza, Florian: Bilateral multi-perspective matching, IJCAI 2017",
        notes="No training text: numbers are not comparable with those of models trained on the "
        "384,348 pairs. 505 single questions are in both dev and test.",
    ),
)

CATALOGUE.add(
    "trec-microblog",
    CatalogueEntry(
        title="TREC Microblog 2011-2014: re-ranking 1,000 tweets a topic",
        folder="trec_microblog",
        source=sources.microblog,
        splits={
            "2011": Counts(49, 60129, 2106, candidates=39780),
            "2012": Counts(60, 73073, 3541, candidates=49879),
            "2013": Counts(60, 71279, 4322, candidates=46192),
            "2014": Counts(55, 57985, 6952, candidates=41579),
            "train-2011": Counts(149, 172769, 12792, candidates=116898),
            "dev-2011": Counts(26, 29568, 2121, candidates=20752),
            "train-2012": Counts(139, 161476, 11385, candidates=107206),
            "dev-2012": Counts(25, 27917, 2109, candidates=20345),
            "train-2013": Counts(139, 162285, 10839, candidates=110552),
            "dev-2013": Counts(25, 28902, 1803, candidates=20686),
            "train-2014": Counts(144, 175881, 8160, candidates=115196),
            "dev-2014": Counts(25, 28600, 1854, candidates=20655),
        },
        protocol="trec-eval",
        measures=("AP", "P@30"),
        runs=("QL",),
        licence="Twitter's terms and TREC research use; the tweets must not be republished",
        citation="Rao et al.: Bridging the gap between relevance and semantic matching, EMNLP 2019",
        notes="A year is tested on; train and dev for it are the topics of the other three, 15 % "
        "of them dev (our cut, by hash). Judgements are NIST's full qrels: AP divides by all "
        "relevant tweets. The run QL is the query-likelihood ranking that found the tweets; nearly "
        "all of its scores are tied, and only trec_eval's tie rule gives its published numbers.",
    ),
)

CATALOGUE.add(
    "pubmed",
    CatalogueEntry(
        title="PubMed: 36,225 titles that search their abstracts",
        folder="pubmed_title_abstract",
        source=sources.pubmed,
        splits={
            "train": Counts(28981, 28981, 28981),
            "dev": Counts(3622, 3622, 3622),
            "test": Counts(3622, 3622, 3622),
        },
        measures=("RR", "Success@1", "Success@10"),
        options={"pool": ("test", "full")},
        licence="mixed; abstracts stay with their publishers, research only",
        notes="A stand-in for the 40,000 articles of the IASM paper, not a random sample. "
        "pool=full ranks among all 36,225 abstracts, pool=test among those of the split.",
    ),
)

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

CATALOGUE.add(
    "cranfield",
    CatalogueEntry(
        title="Cranfield: 225 queries over 1,400 abstracts of aerodynamics",
        folder="ir_cranfield",
        source=sources.collection,
        splits={"test": Counts(225, 1837, 1612, documents=1400)},
        measures=("AP", "nDCG@10"),
        licence="none stated; freely distributed for research",
        citation="Cleverdon: The Cranfield tests on index language devices, 1967",
        notes="Grades 4 to 1 from the codes 1 to 4. A document is its title and its body.",
    ),
)

CATALOGUE.add(
    "pydocs",
    CatalogueEntry(
        title="Docstrings of the installed Python packages: first paragraph and the rest",
        build=_pydocs,
        splits={"train": None, "dev": None, "test": None},
        measures=("RR", "Success@1", "Success@10"),
        licence="that of each package; made on your machine, never shipped",
        notes="Needs no download; its size depends on what is installed.",
    ),
)

CATALOGUE.add(
    "lcs",
    CatalogueEntry(
        title="Pairs of random strings and the length of their longest common subsequence",
        build=lcs,
        splits={"train": None, "dev": None, "test": None},
        task="regression",
        measures=("MSE", "Exact"),
        licence="Apache-2.0",
        citation="Wan et al.: Match-SRNN, IJCAI 2016",
        notes="Letters A to J, both lengths uniform in 1..10; the target is LCS / 10.",
    ),
)

CATALOGUE.add(
    "toy",
    CatalogueEntry(
        title="A few handwritten questions, for first steps and tests",
        build=toy,
        splits={"train": None, "dev": None, "test": None},
        licence="Apache-2.0",
    ),
)
