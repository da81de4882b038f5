"""`load`: open a data set by its name in the catalogue, or from files."""

from collections.abc import Sequence
from pathlib import Path

from matchwork.data.catalogue import CATALOGUE, check_options, load_named
from matchwork.data.dataset import Columns, Dataset, choose_splits
from matchwork.data.pairs import read_split
from matchwork.data.partition import TENTHS, cut_by_query
from matchwork.data.readers import recognise
from matchwork.errors import DataError
from matchwork.registry import did_you_mean


def load(
    name_or_path: str | Path,
    data_root: str | Path | None = None,
    splits: Sequence[str] | None = None,
    *,
    columns: Columns | None = None,
    **options: str | bool,
) -> Dataset:
    """Load a data set by its name in the catalogue, or from a pair file or folder.

    Args:
        name_or_path: Name in `CATALOGUE`, or a path; a `Path` is never taken for a name.
        data_root: Folder that holds the catalogued data sets; MATCHWORK_DATA by default.
        splits: Names of the splits to read; all when None. A single pair file that is asked
            for train, dev or test is cut into these by query.
        columns: Column names of a pair file.
        options: Options of the catalogue entry.
    """
    name = str(name_or_path)
    if isinstance(name_or_path, str) and name in CATALOGUE:
        return load_named(name, data_root, splits, options)
    path = Path(name_or_path)
    if not path.exists():
        raise DataError(
            f"no data set is named {name!r} and no such file or folder exists; "
            f"{did_you_mean(name, CATALOGUE)}"
        )
    check_options(name, {}, options)
    if not path.is_file():
        return recognise(path).read(path, splits, columns)
    name = path.name.split(".")[0]
    if splits is not None and name not in splits and set(splits) <= TENTHS.keys():
        parts = cut_by_query(read_split(path, name, columns))
        return Dataset(name, {part: parts[part] for part in splits})
    choose_splits(splits, [name], path)
    return Dataset(name, {name: read_split(path, name, columns)})
