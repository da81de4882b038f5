import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.encode import WordVectors
from matchwork.errors import DataError

WORDS = ["the", "été", "東京", ". . .", "zebra"]
MATRIX = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)


def text_lines(words: list[str] = WORDS, matrix: np.ndarray = MATRIX) -> list[str]:
    return [
        " ".join([word, *(f"{x:.9g}" for x in row)])
        for word, row in zip(words, matrix, strict=True)
    ]


def binary(words: list[str] = WORDS, newline: bytes = b"\n") -> bytes:
    rows = [w.encode() + b" " + r.tobytes() + newline for w, r in zip(words, MATRIX, strict=True)]
    return f"{len(words)} 3\n".encode() + b"".join(rows)


def write_glove(folder: Path) -> Path:
    path = folder / "glove.txt"
    path.write_text("\n".join(text_lines()) + "\n", encoding="utf-8")
    return path


def write_word2vec(folder: Path) -> Path:
    path = folder / "vectors.vec"  # fastText ends its lines with a blank
    path.write_text("5 3\n" + "".join(f"{line} \n" for line in text_lines()), encoding="utf-8")
    return path


def write_windows(folder: Path) -> Path:
    path = folder / "windows.txt"
    path.write_bytes("\r\n".join(text_lines()).encode())
    return path


def write_gzip(folder: Path) -> Path:
    path = folder / "glove.txt.gz"
    path.write_bytes(gzip.compress("\n".join(text_lines()).encode()))
    return path


def write_binary(folder: Path) -> Path:
    path = folder / "vectors.bin"
    path.write_bytes(binary(["the", "été", "東京", "...", "zebra"]))
    return path


def write_binary_gzip(folder: Path) -> Path:
    path = folder / "vectors.bin.gz"
    path.write_bytes(gzip.compress(binary(["the", "été", "東京", "...", "zebra"], newline=b"")))
    return path


def write_npz(folder: Path) -> Path:
    path = folder / "vectors.npz"
    np.savez(path, vectors=MATRIX.astype(np.float64))
    (folder / "words.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    return path


WRITERS = [
    write_glove,
    write_word2vec,
    write_windows,
    write_gzip,
    write_binary,
    write_binary_gzip,
    write_npz,
]


@pytest.mark.parametrize("write", WRITERS)
def test_every_format_reads_the_same(write, tmp_path: Path) -> None:
    vectors = WordVectors.load(write(tmp_path))
    assert [w.replace(" ", "") for w in vectors.words] == [w.replace(" ", "") for w in WORDS]
    assert vectors.matrix.dtype == np.float32
    np.testing.assert_array_equal(vectors.matrix, MATRIX)
    assert (len(vectors), vectors.dim) == (5, 3)
    assert vectors.index["東京"] == 2 and "nothing" not in vectors


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=3, max_size=3))
def test_numbers_survive_text(tmp_path_factory: pytest.TempPathFactory, row: list[float]) -> None:
    path = tmp_path_factory.getbasetemp() / "numbers.txt"
    matrix = np.array([row, row], dtype=np.float32)
    path.write_text("\n".join(text_lines(["a", "b"], matrix)))
    np.testing.assert_array_equal(WordVectors.load(path).matrix, matrix)


def test_many_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matchwork.encode.word_vectors._CHUNK", 2)
    np.testing.assert_array_equal(WordVectors.load(write_word2vec(tmp_path)).matrix, MATRIX)
    path = tmp_path / "wrong.txt"
    path.write_text("\n".join([*text_lines(), "late 1 2"]))
    with pytest.raises(DataError, match=r"wrong\.txt, line 6: vector is 2 wide, expected 3"):
        WordVectors.load(path)


def test_the_first_of_equal_words_counts() -> None:
    vectors = WordVectors(["a", "b", "a"], np.arange(6.0).reshape(3, 2))
    assert vectors.index == {"a": 0, "b": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a 1 2\nb 1\n", r"line 2: vector is 1 wide, expected 2"),
        ("a 1 2\nb 1 2 3\n", r"line 2: vector is 3 wide, expected 2"),
        ("2 3\na 1 2 3\nb 1 2\n", r"line 3: vector is 2 wide, expected 3"),
        ("a 1 2\nb 1 x\n", r"line 2: 'x' is not a number"),
        ("a 1 2\nb nan 2\n", r"v\.txt: the vector of word 'b' is not finite"),
        ("a 1 2\nb inf 2\n", r"the vector of word 'b' is not finite"),
        ("", r"v\.txt: the file is empty"),
        ("lonely\nwords\n", r"line 1: no numbers after the first word"),
        ("9 2\na 1 2\n", r"truncated: 1 of 9 vectors found"),
        (b"a 1 2\n\xff\xfe 1 2\n", r"line 2: not UTF-8"),
    ],
)
def test_bad_text_files(content: str | bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message):
        WordVectors.load(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (binary()[:-20], r"truncated: \d of 5 vectors found"),
        (binary()[:20], r"truncated: \d of 5 vectors found"),
        (b"hello\n", r"the first line must be 'COUNT WIDTH'"),
        (b"", r"the first line must be 'COUNT WIDTH'"),
        (b"1 1\nword " + np.float32(np.inf).tobytes(), r"word 'word' is not finite"),
    ],
)
def test_bad_binary_files(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "v.bin"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        WordVectors.load(path)


@pytest.mark.parametrize("write", [write_gzip, write_binary_gzip, write_npz])
def test_archives_cut_short(write, tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_bytes(path.read_bytes()[:-25])
    with pytest.raises(DataError, match=path.name):
        WordVectors.load(path)


def test_npz_with_the_wrong_number_of_words(tmp_path: Path) -> None:
    path = write_npz(tmp_path)
    (tmp_path / "words.txt").write_text("one\ntwo\n")
    with pytest.raises(DataError, match=r"words\.txt: 2 words for 5 vectors"):
        WordVectors.load(path)


def test_npz_word_list_must_be_certain(tmp_path: Path) -> None:
    path = write_npz(tmp_path)
    (tmp_path / "readme.txt").write_text("hello")
    with pytest.raises(DataError, match=r"found 2 \.txt files beside it, name one with `words`"):
        WordVectors.load(path)
    assert len(WordVectors.load(path, words=tmp_path / "words.txt")) == 5
    (tmp_path / "words.txt").write_bytes(b"\xff\n")
    with pytest.raises(DataError, match=r"words\.txt: cannot read the word list"):
        WordVectors.load(path, words=tmp_path / "words.txt")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 nonsense", b"nonsense"])
def test_npz_that_is_none(content: bytes, tmp_path: Path) -> None:
    path = write_npz(tmp_path)
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"vectors\.npz"):
        WordVectors.load(path)


def test_npz_runs_no_code(tmp_path: Path) -> None:
    path = write_npz(tmp_path)
    np.savez(path, vectors=np.array([{"an": "object"}] * 5, dtype=object))
    with pytest.raises(DataError, match=r"not an \.npz archive of plain numbers"):
        WordVectors.load(path)


def test_width_asked_for(tmp_path: Path) -> None:
    assert WordVectors.load(write_glove(tmp_path), dim=3).dim == 3
    with pytest.raises(DataError, match="vectors are 3 wide, expected 300"):
        WordVectors.load(write_glove(tmp_path), dim=300)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"glove\.txt: no such file"):
        WordVectors.load(tmp_path / "glove.txt")


def test_words_and_vectors_must_agree() -> None:
    with pytest.raises(DataError, match=r"2 words for vectors of shape \(3, 2\)"):
        WordVectors(["a", "b"], np.zeros((3, 2)))
