from matchwork.cli import show
from matchwork.report.numbers import MISSING


def test_wide_table_of_numbers_is_printed_in_parts(call, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    show.table(["", *(f"split{n}" for n in range(6))], [["queries", *range(1_000_000, 1_000_006)]])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    assert sum(line.strip().startswith("queries") for line in lines) == 3
    assert all(f"1,000,00{n}" in "\n".join(lines) for n in range(6))


def test_numbers_are_right_aligned_and_text_is_not(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    show.table(["name", "value", "word"], [["a", 0.5, "x"], ["b", None, "long"]])
    out = capsys.readouterr().out.splitlines()
    first = next(line for line in out if "0.5000" in line)
    second = next(line for line in out if "long" in line)
    assert first.index("0.5000") + 5 == second.index(MISSING)
    assert first.index("x") == second.index("long")
