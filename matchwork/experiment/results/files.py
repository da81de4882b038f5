"""Files of results: a small summary as JSON, and the values of every query beside it."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matchwork.errors import DataError
from matchwork.files import atomic_write, read_json, write_json

SWEEPS = "sweeps"
"""The folder of sweeps in `recipes`, `runs` and `results`."""
_QUERIES = ".queries.json.gz"
_MAIN = ""


def write_result(path: Path, result: Mapping[str, Any]) -> None:
    """Write a result as indented JSON, and its per-query values, compressed, beside it.

    Args:
        path: The JSON file; `tiny.json` has the queries in `tiny.queries.json.gz`.
        result: What `make_result` returned.
    """
    queries = {name: one["per_query"] for name, one in _conditions(result).items()}
    content = json.dumps(queries, ensure_ascii=False, allow_nan=False).encode()
    with atomic_write(_queries_path(path), "wb") as stream:
        stream.write(gzip.compress(content, mtime=0))  # equal values, equal bytes
    write_json(path, without_queries(result))


def read_result(path: str | Path) -> dict[str, Any]:
    """Read what `write_result` wrote, with the values of every query where they exist."""
    path = Path(path)
    result: dict[str, Any] = read_json(path)
    if _queries_path(path).exists():
        queries = read_queries(path)
        for name, one in _conditions(result).items():
            one["per_query"] = queries[name]
    return result


def read_queries(path: str | Path) -> dict[str, dict[str, dict[str, float]]]:
    """Read the per-query values of a result.

    Args:
        path: The JSON file of the result.

    Returns:
        The value of every query by condition (the main one is "") and measure.
    """
    place = _queries_path(Path(path))
    try:
        found: dict[str, dict[str, dict[str, float]]] = json.loads(
            gzip.decompress(place.read_bytes())
        )
    except OSError as error:
        raise DataError(f"cannot read: {error.strerror or error}", path=place) from error
    except (EOFError, ValueError) as error:
        raise DataError(f"not compressed JSON ({error})", path=place) from error
    return found


def load_results(folder: str | Path) -> list[dict[str, Any]]:
    """Read the summaries of a folder, sorted by data set and recipe."""
    found = (read_json(path) for path in sorted(Path(folder).glob("*/*.json")))
    return [result for result in found if isinstance(result, dict) and "measures" in result]


def by_condition(result: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the result of each condition by its name; the main one is \"\"."""
    return {name: {**result, **values} for name, values in _conditions(result).items()}


def without_queries(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result without the values of every query."""
    summary = {key: value for key, value in result.items() if key != "per_query"}
    if "also" in summary:
        summary["also"] = {name: without_queries(one) for name, one in summary["also"].items()}
    return summary


def _conditions(result: Mapping[str, Any]) -> dict[str, Any]:
    return {_MAIN: result, **result.get("also", {})}


def _queries_path(path: Path) -> Path:
    return path.with_name(path.stem + _QUERIES)
