"""The `CrossEncoder` of sentence-transformers, with any of our matchers behind it.

Same arguments, same results; sentence-transformers itself need not be installed.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import zip_longest
from pathlib import Path
from typing import Any
from warnings import warn

import numpy as np
import torch
from torch import Tensor

from matchwork.encode.model_folder import model_folder
from matchwork.errors import ConfigError
from matchwork.integrations.activation import Activation, default_activation, path_of
from matchwork.integrations.reading_limits import Limits, limit, set_limit
from matchwork.integrations.reranking import open_matcher
from matchwork.matcher import Matcher
from matchwork.matcher.foreign_models import COSINE, MAXSIM
from matchwork.matcher.precision import Precision
from matchwork.ordering import order

_OLDER = (
    *("automodel_args", "tokenizer_args", "tokenizer_kwargs", "config_args"),
    "classifier_dropout",
)
_FORMATS = ("convert_to_numpy", "convert_to_tensor", "apply_softmax")  # of `predict` alone


class CrossEncoder:
    """Scores pairs of texts and ranks documents for a query.

    `model_name_or_path` is whatever `matchwork.load` opens: a cross-encoder or bi-encoder
    of sentence-transformers, "minilm-maxsim", the folder of a matcher; or a `Matcher`.
    Scores go through `activation_fn`: by default what the model's own folder says, else the
    calibration of a calibrated matcher, else a sigmoid for cross-encoders and nothing for others.
    `max_length` counts the pieces that are read at once, special ones included. `cache_folder`,
    `revision`, `local_files_only` and `token` are for models of the hub. `trust_remote_code` is
    never needed and `model_card_data` never read; what else the library takes is refused unless
    it changes nothing. `precision` is ours: "int8" and "bf16" score faster. `older` are the names
    that arguments had in earlier versions of the library, which took `num_labels`, `max_length`,
    `activation_fn` and `device` `by_place`.

    A `Matcher` keeps its limits and settings, but its weights are not copied: `device` and `to`
    move them. It is also what is behind the scores, `matcher`.
    """

    def __init__(
        self,
        model_name_or_path: str | Path | Matcher | None = None,
        *by_place: Any,
        modules: None = None,
        device: str | None = None,
        prompts: dict[str, str] | None = None,
        default_prompt_name: str | None = None,
        cache_folder: str | None = None,
        trust_remote_code: bool = False,
        revision: str | None = None,
        local_files_only: bool = False,
        token: bool | str | None = None,
        model_kwargs: dict[str, Any] | None = None,
        processor_kwargs: dict[str, Any] | None = None,
        config_kwargs: dict[str, Any] | None = None,
        model_card_data: Any = None,
        backend: str = "torch",
        num_labels: int | None = None,
        max_length: int | None = None,
        activation_fn: Activation | None = None,
        keep_in_fp32_modules: list[str] | None = None,
        precision: Precision = "32",
        **older: Any,
    ) -> None:
        if len(by_place) > 4:
            raise ConfigError(
                "CrossEncoder takes all but num_labels, max_length, activation_fn and device by "
                "their names"
            )
        by_name = num_labels, max_length, activation_fn, device
        settings: Iterator[Any] = (
            named if early is None else early for early, named in zip_longest(by_place, by_name)
        )
        num_labels, max_length, activation_fn, device = settings
        name = older.pop("model_name", None) or model_name_or_path
        activation_fn = older.pop("default_activation_function", None) or activation_fn
        cache_folder = older.pop("cache_dir", None) or cache_folder
        known = {key: older.pop(key) for key in _OLDER if key in older}
        if older:
            raise ConfigError(f"CrossEncoder has no argument {next(iter(older))!r}")
        _refuse(
            modules=modules,
            prompts=prompts if any((prompts or {}).values()) else None,
            default_prompt_name=default_prompt_name,
            model_kwargs=_with_effect(model_kwargs),
            processor_kwargs=processor_kwargs,
            config_kwargs=config_kwargs,
            backend=backend if backend != "torch" else None,
            num_labels=num_labels if num_labels != 1 else None,
            keep_in_fp32_modules=keep_in_fp32_modules,
            **known,
        )
        if name is None:
            raise ConfigError("CrossEncoder needs the name or folder of a model, or a Matcher")
        hub = {
            "cache_dir": cache_folder,
            "revision": revision,
            "local_files_only": local_files_only or None,
            "token": token,
        }
        given = {option: value for option, value in hub.items() if value is not None}
        if given and not isinstance(name, Matcher):
            name = _fetch(str(name), given)
        opened = not isinstance(name, Matcher)
        # A copy, with limits of its own.
        self.matcher = copy(open_matcher(name, device))
        if precision != "32":
            if not opened:
                raise ConfigError("a Matcher has its own precision: matcher.to(precision=…)")
            self.matcher.to(precision=precision)
        self._limits = Limits(
            self.matcher.max_query_length,
            self.matcher.max_document_length,
            self.matcher.max_pair_length,
            opened,
        )
        if max_length is not None:
            self.max_length = max_length
        self.activation_fn = activation_fn or default_activation(self.matcher)
        self.model_card_data = _ModelCardData()

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.matcher.device

    @property
    def num_labels(self) -> int:
        """One: how well the texts match."""
        return 1

    @property
    def default_activation_function(self) -> Activation:
        """Another name of `activation_fn`."""
        return self.activation_fn

    @property
    def max_length(self) -> int | None:
        """The most pieces that are read at once, special ones included; None: any number."""
        return limit(self.matcher)

    @max_length.setter
    def max_length(self, length: int | None) -> None:
        set_limit(self.matcher, length, self._limits)

    @property
    def max_seq_length(self) -> int | None:
        """Another name of `max_length`."""
        return self.max_length

    @max_seq_length.setter
    def max_seq_length(self, length: int | None) -> None:
        self.max_length = length

    def to(self, device: str | torch.device) -> "CrossEncoder":
        """Move the weights."""
        self.matcher.to(device)
        return self

    def cpu(self) -> "CrossEncoder":
        """Move the weights there."""
        return self.to("cpu")

    def cuda(self) -> "CrossEncoder":
        """Move the weights there."""
        return self.to("cuda")

    def save_pretrained(self, path: str | Path, *_: object, **__: object) -> None:
        """Write the folder of a `Matcher`, which this class opens again."""
        matcher = copy(self.matcher)
        matcher.score_activation = path_of(self.activation_fn) or matcher.score_activation
        if type(default_activation(matcher)) is not type(self.activation_fn):
            warn(f"{path}: activation_fn is not saved; give it again", stacklevel=2)
        matcher.save(path)

    save = save_pretrained

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"CrossEncoder of Matchwork has no {name!r}; what is behind it is its `matcher`, with "
            "`matcher.tokenizer` and `matcher.model`"
        )

    def eval(self) -> "CrossEncoder":
        """As it always is here."""
        return self

    def predict(
        self,
        inputs: Sequence[Any] | None = None,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        activation_fn: Activation | None = None,
        apply_softmax: bool | None = False,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: str | None = None,
        pool: None = None,
        chunk_size: int | None = None,
        **older: Any,
    ) -> Any:
        """A score per pair: an array, a tensor or a list of tensors; of a single pair, a number.

        `older` may be `sentences` and `activation_fct`, earlier names of `inputs` and
        `activation_fn`, and `num_workers`. This changes nothing here, nor do `apply_softmax`,
        which is for several labels, and `chunk_size` without a pool of processes.
        """
        inputs = older.pop("sentences", None) if inputs is None else inputs
        activation_fn = older.pop("activation_fct", None) or activation_fn
        older.pop("num_workers", None)
        several = device if isinstance(device, list | tuple) else None
        _refuse(prompt_name=prompt_name, prompt=prompt, pool=pool, device=several, **older)
        if inputs is None:
            raise ConfigError("predict needs pairs of texts, got none")
        if device:
            self.matcher.to(device)
        inputs = inputs.tolist() if isinstance(inputs, np.ndarray) else inputs
        pairs: list[Any] = [inputs] if isinstance(inputs, str) else list(inputs)
        alone = bool(pairs) and isinstance(pairs[0], str)
        pairs = [pairs] if alone else pairs
        scores = self._scores(pairs, batch_size, bool(show_progress_bar), activation_fn)
        found: Any = scores
        if not convert_to_tensor:
            found = scores.cpu().numpy() if convert_to_numpy else list(scores)
        return found[0] if alone else found

    def rank(
        self,
        query: str,
        documents: Sequence[str],
        top_k: int | None = None,
        return_documents: bool = False,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        activation_fn: Activation | None = None,
        device: str | None = None,
        pool: None = None,
        chunk_size: int | None = None,
        **older: Any,
    ) -> list[dict[str, Any]]:
        """`corpus_id`, `score` and, if asked for, `text` of the documents, best first.

        `older` are the names that arguments had in earlier versions, as in `predict`, and what
        they were asked to convert scores to, which changes nothing here.
        """
        for name in _FORMATS:
            older.pop(name, None)
        scores = self.predict(
            [(query, document) for document in documents],
            prompt_name,
            prompt,
            batch_size,
            show_progress_bar,
            activation_fn,
            convert_to_tensor=True,
            device=device,
            pool=pool,
            chunk_size=chunk_size,
            **older,
        ).tolist()
        results = []
        for place in order(scores)[:top_k].tolist():
            results.append({"corpus_id": place, "score": scores[place]})
            if return_documents:
                results[-1]["text"] = documents[place]
        return results

    def _scores(
        self,
        pairs: list[tuple[str, str]],
        batch_size: int,
        show_progress: bool,
        activation: Activation | None,
    ) -> Tensor:
        if not isinstance(batch_size, int | np.integer) or batch_size < 1:
            raise ConfigError(f"batch_size must be at least 1, got {batch_size!r}")
        self.matcher.max_pairs = batch_size
        with _progress(len(pairs), show_progress) as advance:
            scores = self.matcher.score(pairs, advance)
        column = torch.from_numpy(scores.astype(np.float32)).to(self.device).unsqueeze(-1)
        if not pairs:
            return column.squeeze(-1)
        with torch.inference_mode():
            found = (activation or self.activation_fn)(column).float()
        return found.squeeze(-1) if found.ndim > 1 else found


class _ModelCardData:
    """What evaluators of the library tell their results to."""

    def set_evaluation_metrics(self, *_: object, **__: object) -> None:
        """Keeps nothing: there is no card."""


def _with_effect(model_kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """Without what leaves scores as they are here: how attention is computed, and 32 bits."""
    settings = dict(model_kwargs or {})
    settings.pop("attn_implementation", None)
    for name in ("dtype", "torch_dtype"):
        if settings.get(name) in ("float32", torch.float32):
            del settings[name]
    return settings


def _refuse(**options: object) -> None:
    for name, value in options.items():
        if value:
            raise ConfigError(f"{name} = {value!r} is not supported; leave it out")


def _fetch(name: str, options: dict[str, Any]) -> str:
    """The model by its folder on this machine, with what its name says behind that of the hub."""
    ending = next((each for each in (MAXSIM, COSINE) if name.endswith(each)), "")
    base = name if Path(name).is_dir() else name.removesuffix(ending)
    return f"{model_folder(base, **options)}{ending if base != name else ''}"


@contextmanager
def _progress(total: int, shown: bool) -> Iterator[Callable[[int], None] | None]:
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("Scoring", total=total)
        yield lambda done: progress.advance(task, done)
