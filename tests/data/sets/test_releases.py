"""Official releases, on tiny files written as their authors write them."""

import gzip

import pytest

from matchwork.data import READERS, load
from matchwork.data.sets.hcan import read_hcan
from matchwork.data.sets.insuranceqa_release import read_insuranceqa_v1, read_insuranceqa_v2
from matchwork.data.sets.msmarco import read_msmarco
from matchwork.data.sets.quora import read_quora, read_quora_bimpm
from matchwork.data.sets.wikiqa import read_wikiqa
from matchwork.errors import DataError

WIKIQA_HEADER = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\n"


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder


@pytest.fixture
def wikiqa(tmp_path):
    rows = (
        'Q1\thow are caves "formed"?\tD1\tCave\tD1-0\tA cave .\t0\n'
        'Q1\thow are caves "formed"?\tD1\tCave\tD1-1\tBy water .\t1\n'
    )
    return write(
        tmp_path, {f"WikiQA-{s}.tsv": WIKIQA_HEADER + rows for s in ("train", "dev", "test")}
    )


@pytest.fixture
def hcan(tmp_path):
    part = {
        "a.toks": "who wrote it ?\nwho wrote it ?\nwhen ?\n",
        "b.toks": "he did .\n\nin 1900 .\n",
        "sim.txt": "1\n0\n1\n",
        "id.txt": "1\n1\n2\n",
    }
    run = "7 Q0 901 1 11.4 lucene\n7 Q0 902 2 10.7 lucene\n8 Q0 901 1 3.0 lucene\n"
    files = {f"train-all/{name}": text for name, text in part.items()}
    files |= {f"test/{name}": text for name, text in part.items()}
    files |= {"test/id.txt": run, "test/b.toks": "he did .\n\nhe did .\n"}
    return write(tmp_path, files)


@pytest.fixture
def insurance_v1(tmp_path):
    pool = "2\tidx_1 idx_3\t1 2 3\n"
    return write(
        tmp_path,
        {
            "vocabulary": "idx_1\twhat\nidx_2\tyes\nidx_3\tcovers?\n",
            "answers.label.token_idx": "1\tidx_2\n2\tidx_2 idx_3\n3\tidx_3\n",
            "question.train.token_idx.label": "idx_1 idx_3\t1 3\nidx_1\t2\n",
            **{f"question.{s}.label.token_idx.pool": pool for s in ("dev", "test1", "test2")},
        },
    )


@pytest.fixture
def insurance_v2(tmp_path):
    files = {
        "vocabulary": "idx_1\tWhat\nidx_2\tYes\n",
        "InsuranceQA.label2answer.token.encoded.gz": "1\tidx_2\n2\tidx_2 idx_1\n",
    }
    for split in ("train", "valid", "test"):
        stem = "InsuranceQA.question.anslabel.token"
        files[f"{stem}.500.pool.solr.{split}.encoded.gz"] = "life\tidx_1\t1\t2 1\n"
        files[f"{stem}.100.pool.solr.{split}.encoded.gz"] = "life\tidx_1\t1\t2\n"
    return write(tmp_path, files)


@pytest.fixture
def quora(tmp_path):
    text = (
        "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
        '0\t1\t2\tHow?\t"Say ""how""\nin two lines?"\t1\n'
        "1\t1\t3\tHow?\tWhy?\t0\n"
    )
    return write(tmp_path, {"quora_duplicate_questions.tsv": text})


@pytest.fixture
def msmarco(tmp_path):
    return write(
        tmp_path,
        {
            "collection.tsv": "0\tfirst passage\n1\tsecond passage\n2\tthird passage\n",
            "queries.train.tsv": "10\tjudged\n11\tnot judged\n",
            "queries.dev.small.tsv": "20\tdev query\n",
            "qrels.train.tsv": "10\t0\t1\t1\n",
            "qrels.dev.small.tsv": "20\t0\t2\t1\n",
            "top1000.dev": "20\t1\tdev query\tsecond passage\n20\t2\tdev query\tthird passage\n",
        },
    )


def test_wikiqa(wikiqa):
    dataset = read_wikiqa(wikiqa)
    assert list(dataset.splits) == ["train", "dev", "test"]
    assert dataset.protocol == "has-positive"
    split = dataset["test"]
    assert split.queries == {"Q1": 'how are caves "formed"?'}
    assert split.documents == {"D1-0": "A cave .", "D1-1": "By water ."}
    assert split.qrels == {"Q1": {"D1-0": 0, "D1-1": 1}}


def test_hcan(hcan):
    dataset = read_hcan(hcan)
    assert list(dataset.splits) == ["test", "train-all"]
    train = dataset["train-all"]
    assert train.qrels == {"1": {"d1": 1, "d2": 0}, "2": {"d3": 1}}
    assert train.documents["d2"] == ""
    # The microblog sets' id.txt is a run: it names the tweets too.
    assert dataset["test"].qrels == {"7": {"901": 1, "902": 0}, "8": {"901": 1}}


def test_hcan_without_ids_groups_by_query_text(hcan):
    (hcan / "train-all" / "id.txt").unlink()
    assert read_hcan(hcan)["train-all"].queries == {"q1": "who wrote it ?", "q2": "when ?"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("sim.txt", "1\n0\n", "differ in their number of lines"),
        ("sim.txt", "1\nx\n1\n", r"sim\.txt, line 2.*found 'x'"),
        ("id.txt", "1\n1\n", r"id\.txt, line 3: expected an id"),
        ("id.txt", "1\n1\n1\n", "line 3: query id '1' has another text than in line 1"),
    ],
)
def test_hcan_errors(hcan, name, text, message):
    (hcan / "train-all" / name).write_text(text)
    with pytest.raises(DataError, match=message):
        read_hcan(hcan)


def test_insuranceqa_v1(insurance_v1):
    dataset = read_insuranceqa_v1(insurance_v1)
    assert list(dataset.splits) == ["train", "dev", "test1", "test2"]
    assert dataset["train"].queries == {"train-0": "what covers?", "train-1": "what"}
    assert dataset["train"].qrels == {"train-0": {"1": 1, "3": 1}, "train-1": {"2": 1}}
    assert dataset["train"].candidates is None
    assert dataset["test2"].candidates == {"test2-0": ("1", "2", "3")}
    assert dataset["test2"].documents["2"] == "yes covers?"


def test_insuranceqa_word_outside_the_vocabulary(insurance_v1):
    (insurance_v1 / "answers.label.token_idx").write_text("1\tidx_2\n2\tidx_99\n")
    with pytest.raises(DataError, match=r"token_idx, line 2: 'idx_99' is not in vocabulary"):
        read_insuranceqa_v1(insurance_v1)


def test_insuranceqa_v2(insurance_v2):
    dataset = read_insuranceqa_v2(insurance_v2)
    assert list(dataset.splits) == ["train", "dev", "test"]
    assert dataset["dev"].queries == {"dev-0": "What"}
    assert dataset["dev"].candidates == {"dev-0": ("2", "1")}
    assert dataset["dev"].documents == {"1": "Yes", "2": "Yes What"}
    small = read_insuranceqa_v2(insurance_v2, pool=100)["dev"]
    assert small.candidates == {"dev-0": ("2",)}
    assert small.qrels == {"dev-0": {"1": 1}}
    with pytest.raises(DataError, match=r"no file InsuranceQA.*\.1500\.pool"):
        read_insuranceqa_v2(insurance_v2, pool=1500)


def test_quora_original(quora):
    dataset = read_quora(quora)
    assert dataset.task == "classification"
    pairs = [(p.query, p.document, p.label) for p in dataset["all"].pairs()]
    assert pairs == [("How?", 'Say "how"\nin two lines?', 1), ("How?", "Why?", 0)]


def test_quora_bimpm(tmp_path):
    row = '1\tWhat is "it" ?\tWhat is that ?\t17\n'
    folder = write(tmp_path, {f"{split}.tsv": row for split in ("train", "dev", "test")})
    split = read_quora_bimpm(folder)["dev"]
    assert split.queries == {"17-a": 'What is "it" ?'}
    assert split.qrels == {"17-a": {"17-b": 1}}
    (folder / "dev.tsv").write_text("maybe\ta\tb\t1\n")
    with pytest.raises(DataError, match=r"dev\.tsv, line 1.*found 'maybe'"):
        read_quora_bimpm(folder)


def test_msmarco(msmarco):
    dataset = read_msmarco(msmarco)
    assert dataset.measures == ("RR@10",)
    assert dataset["train"].queries == {"10": "judged"}
    assert dataset["train"].candidates is None
    assert dataset["dev"].candidates == {"20": ("1", "2")}
    assert dataset["dev"].documents is dataset["train"].documents
    (msmarco / "top1000.dev").unlink()
    assert read_msmarco(msmarco)["dev"].candidates is None


RELEASES = [name for name in READERS if not READERS[name].generic and name != "quora-bimpm"]


@pytest.mark.parametrize("layout", RELEASES)
def test_a_release_is_recognised_by_its_files(layout, request):
    fixture = {"insuranceqa-v1": "insurance_v1", "insuranceqa-v2": "insurance_v2"}
    folder = request.getfixturevalue(fixture.get(layout, layout.removesuffix("-passage")))
    dataset = load(folder)
    assert dataset.splits == READERS[layout].read(folder, None, None).splits
    name = list(dataset.splits)[-1]
    assert list(load(folder, splits=[name]).splits) == [name]


@pytest.mark.parametrize("layout", [*RELEASES, "quora-bimpm"])
def test_an_empty_folder_is_none_of_them(layout, tmp_path):
    with pytest.raises(DataError, match="no "):
        READERS[layout].read(tmp_path, None, None)
