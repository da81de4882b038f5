import pytest

PAIRS = (
    "question\tanswer\trelevance\n"
    "who wrote hamlet\tshakespeare wrote it\t1\n"
    "who wrote hamlet\tthe play is long\t0\n"
    "where is the louvre\tin paris\t1\n"
    "where is the louvre\tin [bold]london[/]\t0\n"
)


@pytest.fixture
def pair_file(tmp_path):
    path = tmp_path / "mine.tsv"
    path.write_text(PAIRS)
    return path


def test_list_says_what_is_here(call, call_json, tmp_path):
    (tmp_path / "wikiqa").mkdir()
    entries = {one["name"]: one for one in call_json("data", "list", "--data-root", tmp_path)}
    assert entries["wikiqa"]["present"] and not entries["trecqa"]["present"]
    assert entries["toy"]["present"], "made on the spot"
    assert entries["wikiqa"]["splits"] == ["train", "dev", "test"]
    shown = call("data", "list", "--data-root", tmp_path)
    assert "Microsoft Research Data" in shown.stdout and "MATCHWORK_DATA" in shown.stderr


def test_show_counts_and_examples(call, call_json, pair_file):
    found = call_json("data", "show", pair_file, "--examples", 3)
    assert found["counts"]["mine"]["judgements"] == 4
    assert [pair["label"] for pair in found["examples"]["mine"]] == [1, 0, 1]
    shown = call("data", "show", pair_file)
    assert "in [bold]london[/]" in shown.stdout, "texts are never markup"


def test_show_one_split_with_columns(call_json, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("left,right,gold\na b,c d,1\n")
    columns = "query=left,document=right,label=gold"
    found = call_json("data", "show", path, "--columns", columns, "--split", "odd")
    assert found["counts"]["odd"]["positives"] == 1


def test_check_prints_numbers_and_findings(call, call_json):
    shown = call("data", "check", "toy")
    assert shown.exit_code == 0
    assert "document words" in shown.stdout and "BM25 MAP / MRR" in shown.stdout
    assert [split["name"] for split in call_json("data", "check", "toy")["splits"]] == [
        "train",
        "dev",
        "test",
    ]


def test_strict_check_fails_on_an_error_only(call, tmp_path):
    for name in ("train", "test"):
        (tmp_path / f"{name}.tsv").write_text(PAIRS)
    assert call("data", "check", tmp_path).exit_code == 0
    strict = call("data", "check", tmp_path, "--strict")
    assert strict.exit_code == 1 and "error" in strict.stdout
    assert call("data", "check", "toy", "--strict").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["toi"], 1, "did you mean 'toy'"),
        (["toy", "--split", "tset"], 1, "did you mean 'test'"),
        (["toy", "--option", "pool"], 2, "--option takes key=value, got 'pool'"),
        (["toy", "--option", "pool=full"], 2, "no option 'pool'"),
        (["toy", "--columns", "qurey=a"], 2, "did you mean 'query'"),
    ],
)
def test_wrong_names_get_a_suggestion(call, arguments, code, message):
    result = call("data", "show", *arguments)
    assert result.exit_code == code and message in result.stderr and result.stdout == ""


def test_bad_row_names_file_line_and_column(call, tmp_path):
    path = tmp_path / "bad.tsv"
    path.write_text(PAIRS + "q\td\tmaybe\n")
    result = call("data", "check", path)
    assert result.exit_code == 1
    assert f"{path}, line 6, column 'relevance'" in result.stderr and "'maybe'" in result.stderr


@pytest.mark.shared_data
def test_trecqa_file_order_is_found(call_json):
    report = call_json("data", "check", "trecqa", "--split", "test")
    assert any("file order alone scores MAP 1.000" in one["message"] for one in report["findings"])
