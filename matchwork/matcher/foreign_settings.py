"""Settings that sentence-transformers saves beside a network; unsupported ones are refused."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from matchwork.encode.model_folder import optional_settings
from matchwork.errors import DataError
from matchwork.files import read_json

# The library takes the first that is not empty; older versions named it after the architecture.
_NETWORKS = ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
_OF_MODEL = "config_sentence_transformers.json"
_MODE = "pooling_mode_"  # of older versions: a key for every mode
_POOLING: dict[str, Literal["mean", "cls"]] = {
    "mean": "mean",
    "cls": "cls",
    f"{_MODE}mean_tokens": "mean",
    f"{_MODE}cls_token": "cls",
}
_OWNER = "sentence_transformers."  # its modules by their paths
# Arguments that it passes to the transformers library when it opens a network or a tokenizer.
_PASSED_ON = (
    "processing_kwargs",
    *("model_args", "model_kwargs", "tokenizer_args", "tokenizer_kwargs"),
    *("config_args", "config_kwargs"),
    "processor_kwargs",
)
_NO_EFFECT = ("add_pooling_layer", "attn_implementation", "trust_remote_code")
_NO_LIMIT = 10**9  # what the transformers library writes where there is none is larger still


@dataclass(frozen=True)
class TransformerSettings:
    """Tokenisation settings of a network, from the file at `path`."""

    path: Path
    max_positions: int | None  # most subword tokens of a text
    lower_case: bool


def modules(folder: Path) -> list[tuple[str, Path]]:
    """Return kinds and folders of the modules in `modules.json`, in order."""
    path = folder / "modules.json"
    found = []
    try:
        for each in read_json(path):
            kind = each["type"]
            if not kind.startswith(_OWNER):
                raise DataError(
                    f"it needs code of its own ({kind}), and remote code is never run; only "
                    "modules of sentence-transformers can be read",
                    path=path,
                )
            found.append((kind.rpartition(".")[2], folder / each["path"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError("not a list of modules with type and path", path=path) from error
    return found


def transformer_settings(folder: Path, *, listed: bool) -> TransformerSettings:
    """Read how texts are tokenised; the library's own file counts only if `listed`."""
    path, settings = _own_file(folder) if listed else (folder, {})
    _refuse_passed_on(settings, path)
    tokenizer_path = folder / "tokenizer_config.json"
    of_tokenizer = optional_settings(tokenizer_path)
    if of_tokenizer.get("truncation_side") == "left":
        raise DataError(
            "its tokenizer cuts long texts on the left, which cannot be read; write "
            'truncation_side = "right" if the beginning of a text may be read instead',
            path=tokenizer_path,
        )
    limit = _limit(settings, "max_seq_length", path)
    if limit is None:
        limit = _limit(of_tokenizer, "model_max_length", tokenizer_path)
    return TransformerSettings(path, limit, lower_case=bool(settings.get("do_lower_case")))


def _own_file(folder: Path) -> tuple[Path, dict[str, Any]]:
    for path in (folder / f"sentence_{network}_config.json" for network in _NETWORKS):
        if settings := optional_settings(path):
            return path, settings
    return folder / f"sentence_{_NETWORKS[0]}_config.json", {}


def _refuse_passed_on(settings: dict[str, Any], path: Path) -> None:
    for key in _PASSED_ON:
        found = settings.get(key)
        if isinstance(found, dict):
            found = {name: value for name, value in found.items() if name not in _NO_EFFECT}
        if found:
            raise DataError(
                f"{key} = {found} cannot be read; write it into config.json or "
                "tokenizer_config.json, a limit of length as max_seq_length here",
                path=path,
            )


def _limit(settings: dict[str, Any], key: str, path: Path) -> int | None:
    found = settings.get(key)
    if found is None:
        return None
    if type(found) not in (int, float) or found < 1 or found % 1:
        raise DataError(
            f"{key} must be a number of pieces above 0, got {found!r}; leave it out where there is "
            "no limit",
            path=path,
        )
    return int(found) if found < _NO_LIMIT else None


def pooling(folder: Path) -> Literal["mean", "cls"]:
    """Return how token vectors are pooled into a text vector."""
    settings = optional_settings(folder / "config.json")
    chosen = [key for key, value in settings.items() if key.startswith(_MODE) and value is True]
    mode = settings.get("pooling_mode") or " + ".join(chosen)
    if isinstance(mode, str) and mode in _POOLING:
        return _POOLING[mode]
    raise DataError(f"pooling {mode!r} cannot be read, only mean and cls", path=folder)


def similarity(folder: Path, normalized: bool) -> Literal["cosine", "dot"]:
    """Return how text vectors are compared."""
    found = optional_settings(folder / _OF_MODEL).get("similarity_fn_name") or "cosine"
    if found not in ("cosine", "dot"):
        raise DataError(f"similarity {found!r} cannot be read, only cosine and dot", path=folder)
    return "cosine" if normalized or found == "cosine" else "dot"


def refuse_other_norm(folder: Path) -> None:
    """Raise a `DataError` unless Normalize scales the text vector."""
    path = folder / "config.json"
    settings = optional_settings(path)
    for key in ("module_input_name", "module_output_name"):
        found = settings.get(key)
        if found not in (None, "sentence_embedding"):
            raise DataError(
                f"{key} = {found!r} cannot be read, only 'sentence_embedding'", path=path
            )


def score_activation(folder: Path, *, listed: bool) -> str | None:
    """Return the path in torch.nn of the activation on a cross-encoder's logits, if there is one.

    Older versions put it into `config.json`. The library's own file counts only if `listed`.
    """
    of_model = optional_settings(folder / _OF_MODEL) if listed else {}
    config = optional_settings(folder / "config.json")
    of_library = config.get("sentence_transformers")
    found = of_model.get("activation_fn")
    if found is None and isinstance(of_library, dict) and "activation_fn" in of_library:
        found = of_library["activation_fn"]
    elif found is None:
        found = config.get("sbert_ce_default_activation_function")
    return None if found is None else str(found)


def refuse_prompts(folder: Path, *, of_sides: bool) -> None:
    """Raise a `DataError` if the model puts a prompt before texts (`of_sides`: of either side)."""
    path = folder / _OF_MODEL
    settings = optional_settings(path)
    prompts, default = settings.get("prompts") or {}, settings.get("default_prompt_name")
    if not isinstance(prompts, dict):
        raise DataError(
            f"prompts must be a table of texts by name, got {prompts!r}; leave them out", path=path
        )
    if not isinstance(default, str | None):
        raise DataError(
            f"default_prompt_name must be a name, got {default!r}; leave it out", path=path
        )
    for name in (default, *(("query", "document", "passage") if of_sides else ())):
        if prompts.get(name):
            raise DataError(
                f"it puts the prompt {prompts[name]!r} before texts, which is not supported",
                path=folder,
            )
