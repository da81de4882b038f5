import gzip
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.data.sets import pydocs
from matchwork.data.sets.pydocs import worker
from matchwork.data.sets.pydocs.clean import make_pair, words
from matchwork.data.sets.pydocs.duplicates import first_of_each
from matchwork.errors import DataError

SMALL = ("argparse", "collections", "email", "json", "logging", "pathlib", "statistics", "urllib")

BODY = (
    "It walks over all of the items that were given once and adds each number to a running total "
    "which it then divides by how many there were."
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def dataset(cache):
    return pydocs.build(cache, packages=SMALL)


def test_every_query_has_one_relevant_document_in_one_shared_pool(dataset):
    documents = dataset["train"].documents
    assert len(documents) > 50
    assert sum(len(split.queries) for split in dataset.splits.values()) == len(documents)
    for split in dataset.splits.values():
        assert split.documents is documents
        assert split.candidates is None
        for query_id, text in split.queries.items():
            (document_id,) = split.qrels[query_id]
            assert document_id in documents
            assert pydocs.split_of(text) == split.name


def test_texts_keep_to_the_filters(dataset):
    for split in dataset.splits.values():
        for query in split.queries.values():
            assert 4 <= len(words(query)) <= 40
    for name, document in dataset["train"].documents.items():
        assert len(set(words(document))) >= 15
        assert ">>>" not in document
        assert f"{name.rpartition('.')[2]}(" not in document.split()


def test_versions_name_python_and_the_fingerprint(dataset):
    assert dataset.versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert len(dataset.versions["fingerprint"]) == 16


def test_second_build_reads_the_cache_and_a_fresh_one_is_equal(
    dataset, cache, tmp_path, monkeypatch
):
    monkeypatch.setenv("PYTHONHASHSEED", "77")
    assert pydocs.build(tmp_path, packages=SMALL) == dataset

    def no_worker(names):
        raise AssertionError(f"the worker ran again for {names}")

    monkeypatch.setattr(pydocs, "_collect", no_worker)
    assert pydocs.build(cache, packages=SMALL) == dataset


def test_damaged_cache_is_made_again(dataset, tmp_path):
    pydocs.build(tmp_path, packages=SMALL)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert pydocs.build(tmp_path, packages=SMALL) == dataset
    assert path.read_bytes() == whole


def test_unwritable_cache_costs_nothing_but_time(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert pydocs.build(blocked, packages=("json", "statistics")).splits


def test_unknown_package_is_named():
    with pytest.raises(DataError, match="package 'no_such_thing' is not installed"):
        pydocs.build(packages=["no_such_thing"])


def test_packages_that_say_nothing_are_an_error(tmp_path, monkeypatch):
    (tmp_path / "silent.py").write_text("def shrug():\n    pass\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(DataError, match="no usable docstring in silent; add packages"):
        pydocs.build(tmp_path / "cache", packages=["silent"])
    assert not (tmp_path / "cache").exists()


def test_worker_failure_carries_its_last_words(tmp_path, monkeypatch):
    package = tmp_path / "modules" / "crasher.py"
    package.parent.mkdir()
    package.write_text("import os, sys\nsys.stderr.write('the roof is on fire')\nos._exit(3)\n")
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    monkeypatch.syspath_prepend(str(package.parent))
    with pytest.raises(DataError, match=r"(?s)ended with code 3.*the roof is on fire"):
        pydocs.build(tmp_path / "cache", packages=["crasher"])


def test_worker_survives_modules_that_print_fail_or_exit(tmp_path, monkeypatch):
    root = tmp_path / "modules" / "wild"
    root.mkdir(parents=True)
    (root / "__init__.py").write_text("print('noise')\nimport os\nos.write(1, b'more noise')\n")
    (root / "broken.py").write_text("1 / 0\n")
    (root / "exits.py").write_text("raise SystemExit(5)\n")
    (root / "_private.py").write_text("raise SystemExit(6)\n")
    (root / "good.py").write_text(
        f'def mean(items):\n    """Compute the middle value of numbers.\n\n    {BODY}\n    """\n'
    )
    monkeypatch.setenv("PYTHONPATH", str(root.parent))
    monkeypatch.syspath_prepend(str(root.parent))
    dataset = pydocs.build(tmp_path / "cache", packages=["wild"])
    assert dict(dataset["train"].documents) == {"wild.good.mean": BODY}
    (cached,) = (tmp_path / "cache").iterdir()
    assert json.loads(gzip.decompress(cached.read_bytes()))["name"] == "wild.good.mean"


@pytest.mark.parametrize("name", ["this", "antigravity", "tkinter", "idlelib", "numpy.tests"])
def test_unsafe_modules_are_not_wanted(name):
    assert not worker.is_wanted(name)


def test_standard_library_is_part_of_the_default():
    names = pydocs.installed_packages()
    assert {"json", "os", "numpy"} <= set(names)
    assert "transformers" not in names


@pytest.mark.slow
def test_standard_library_alone_gives_over_a_thousand_pairs(tmp_path):
    dataset = pydocs.build(tmp_path, packages=pydocs.standard_library())
    assert len(dataset["train"].documents) > 1000


def pair(doc, name="pkg.mean"):
    made = make_pair(doc, [name])
    assert made is not None
    return made


def test_signature_lines_are_removed():
    made = pair(f"mean(items,\n     weights=(1, 2)) -> float\n\nAverage of the items.\n\n{BODY}")
    assert made.query == "Average of the items."
    assert made.document == BODY


def test_names_are_removed_as_identifiers_only():
    made = pair(f"Give the mean of these items.\n\n{BODY} Use pkg.mean(items), not meanings.")
    assert made.query == "Give the of these items."
    assert made.document == f"{BODY} Use , not meanings."


def test_every_alias_is_removed():
    made = make_pair(f"Like avg or mean of items.\n\n{BODY}", ["pkg.deep.avg", "pkg.mean"])
    assert made is not None
    assert made.name == "pkg.mean"
    assert made.query == "Like or of items."


@pytest.mark.parametrize(
    "section",
    [
        "See Also\n--------\nmedian : quoted summary",
        "Examples\n========\n\nSecret text.\n\n>>> 1 + 1\n2",
        "References\n----------\n.. [1] A book",
        "Example::\n\n    secret(1)\n\n    secret(2)",
        ".. seealso::\n   secret thing",
        ">>> secret()\nanswer",
    ],
)
def test_quoting_sections_are_cut_and_others_kept(section):
    made = pair(f"Average of the items.\n\n{BODY}\n\n{section}\n\nNotes\n-----\nKept at the end.")
    assert made.document == f"{BODY} Notes Kept at the end."


@pytest.mark.parametrize(
    "doc",
    [
        f"Average of %(kind)s items here.\n\n{BODY}",
        f"Multiply dispatched method: mean\n\n{BODY}",
        f"Average of the items.\n\nSee {BODY}",
        f"Average of the items.\n\nRefer to {BODY}",
        f"Average of the items.\n\nAlias for {BODY}",
        f"Too short.\n\n{BODY}",
        f"{'Long ' * 41}\n\n{BODY}",
        "Average of the items.\n\nSays next to nothing about it.",
        f"mean(items)\n\n{BODY}",
        BODY,
        "",
    ],
)
def test_filters_reject(doc):
    assert make_pair(doc, ["pkg.mean"]) is None


def jaccard(left, right):
    sets = [
        {tuple(text[i : i + 3]) for i in range(max(len(text) - 2, 1))} for text in (left, right)
    ]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=12), max_size=12))
def test_near_duplicates_agree_with_all_pairs(texts):
    kept = []
    for position, text in enumerate(texts):
        if all(jaccard(text, texts[earlier]) < 0.6 for earlier in kept):
            kept.append(position)
    assert first_of_each(texts) == kept


@given(st.text())
def test_any_docstring_is_cleaned_without_a_crash(doc):
    make_pair(doc, ["pkg.mean"])
