"""Reading pre-trained word vectors: GloVe and word2vec text, word2vec binary, .npz + words."""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from matchwork.errors import DataError

Matrix = npt.NDArray[np.float32]
_CHUNK = 20_000  # lines parsed at a time


class WordVectors:
    """Words with one vector each, `matrix` (words, dim); of equal words the first counts."""

    def __init__(
        self, words: Sequence[str], matrix: npt.NDArray[Any], path: str | Path | None = None
    ) -> None:
        if matrix.ndim != 2 or len(words) != len(matrix):
            raise DataError(f"{len(words)} words for vectors of shape {matrix.shape}", path=path)
        if not np.isfinite(matrix).all():
            row = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
            raise DataError(f"the vector of word {words[row]!r} is not finite", path=path)
        self.words = list(words)
        self.matrix: Matrix = matrix.astype(np.float32, copy=False)

    @cached_property
    def index(self) -> dict[str, int]:
        """Rows by word; the first of equal words counts."""
        last = len(self.words) - 1
        return {word: last - i for i, word in enumerate(reversed(self.words))}

    @property
    def dim(self) -> int:
        """Width of the vectors."""
        return int(self.matrix.shape[1])

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self.index

    @classmethod
    def load(
        cls, path: str | Path, words: str | Path | None = None, dim: int | None = None
    ) -> "WordVectors":
        """Read a file of word vectors; its format is recognised by suffix and first line.

        Args:
            path: GloVe or word2vec text, word2vec binary (`.bin`), either also gzipped, or `.npz`.
            words: For `.npz`, a file with one word per line; default: the only `.txt` beside it.
            dim: The expected width of the vectors.
        """
        path = Path(path)
        if not path.is_file():
            raise DataError("no such file; give the path of a word-vector file", path=path)
        try:
            if path.suffix == ".npz":
                vectors = _load_npz(path, Path(words) if words else _words_beside(path))
            elif path.name.removesuffix(".gz").endswith(".bin"):
                vectors = _load_binary(path)
            else:
                vectors = _load_text(path)
        except (OSError, EOFError, BadZipFile, zlib.error) as error:
            raise DataError(f"cannot read vectors: {error}", path=path) from error
        if dim is not None and vectors.dim != dim:
            raise DataError(f"vectors are {vectors.dim} wide, expected {dim}", path=path)
        return vectors


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _words_beside(path: Path) -> Path:
    files = sorted(path.parent.glob("*.txt"))
    if len(files) != 1:
        raise DataError(
            f"an .npz of vectors needs its word list; found {len(files)} .txt files beside it, "
            "name one with `words`",
            path=path,
        )
    return files[0]


def _load_npz(path: Path, words_path: Path) -> WordVectors:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            key = "vectors" if "vectors" in archive else archive.files[0]
            matrix = archive[key]
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        raise DataError("not an .npz archive of plain numbers", path=path) from error
    try:
        # Only "\n" ends a word: word lists hold odd characters that splitlines() breaks at.
        words = words_path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read the word list: {error}", path=words_path) from error
    if matrix.ndim == 2 and len(words) != len(matrix):
        raise DataError(f"{len(words)} words for {len(matrix)} vectors", path=words_path)
    return WordVectors(words, matrix, path)


def _load_binary(path: Path) -> WordVectors:
    with _open(path) as stream:
        header = stream.readline().split()
        if len(header) != 2 or not all(part.isdigit() for part in header):
            raise DataError("not word2vec binary: the first line must be 'COUNT WIDTH'", path=path)
        count, dim = int(header[0]), int(header[1])
        content = stream.read()
    words, rows, position = [], [], 0
    for number in range(count):
        space = content.find(b" ", position)
        end = space + 1 + 4 * dim
        if space < 0 or end > len(content):
            raise DataError(f"truncated: {number} of {count} vectors found", path=path)
        words.append(content[position:space].lstrip(b"\n").decode("utf-8", "replace"))
        rows.append(np.frombuffer(content, dtype="<f4", count=dim, offset=space + 1))
        position = end
    return WordVectors(words, np.stack(rows) if rows else np.zeros((0, dim), np.float32), path)


def _load_text(path: Path) -> WordVectors:
    words: list[str] = []
    parts: list[Matrix] = []
    dim: int | None = None
    promised: int | None = None
    for first_line, lines in _line_chunks(path):
        if dim is None:
            head = lines[0].split(" ")
            if len(head) == 2 and head[0].isdigit() and head[1].isdigit():
                promised, dim = int(head[0]), int(head[1])
                lines, first_line = lines[1:], first_line + 1
            else:
                dim = len(head) - 1
            if dim < 1:
                raise DataError("no numbers after the first word", path=path, line=first_line)
        entries = [line.rsplit(" ", dim) for line in lines]
        for line, entry in enumerate(entries, start=first_line):
            _check_line(entry, dim, path, line)
        words += [entry[0] for entry in entries]
        try:
            parts.append(np.array([entry[1:] for entry in entries], dtype=np.float32))
        except ValueError as error:
            raise _not_a_number(entries, path, first_line) from error
    if dim is None:
        raise DataError("the file is empty", path=path)
    if promised is not None and promised != len(words):
        raise DataError(f"truncated: {len(words)} of {promised} vectors found", path=path)
    return WordVectors(words, np.concatenate(parts).reshape(-1, dim), path)


def _check_line(entry: list[str], dim: int, path: Path, line: int) -> None:
    """Check a vector's width; a word may contain spaces (GloVe's ". . .") but no numbers."""
    width = len(entry) - 1
    if width == dim:
        width += sum(map(_is_number, entry[0].split(" ")[1:]))
    if width != dim:
        raise DataError(f"vector is {width} wide, expected {dim}", path=path, line=line)


def _not_a_number(entries: list[list[str]], path: Path, first_line: int) -> DataError:
    for line, entry in enumerate(entries, start=first_line):
        for text in entry[1:]:
            if not _is_number(text):
                return DataError(f"{text!r} is not a number", path=path, line=line)
    return DataError("a vector contains something that is not a number", path=path)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _line_chunks(path: Path) -> Iterator[tuple[int, list[str]]]:
    number = 1
    with _open(path) as stream:
        while raw := list(islice(stream, _CHUNK)):
            lines = []
            for line, content in enumerate(raw, start=number):
                try:
                    lines.append(content.decode("utf-8").rstrip("\r\n "))
                except UnicodeDecodeError as error:
                    raise DataError(f"not UTF-8 ({error.reason})", path=path, line=line) from error
            yield number, lines
            number += len(lines)
