"""The `CrossEncoder` of sentence-transformers, with any of our matchers behind it.

It takes the same arguments and returns the same results; sentence-transformers itself need not
be installed.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any
from warnings import warn

import numpy as np
import torch
from torch import Tensor

from matchwork.errors import ConfigError
from matchwork.integrations.sentence_transformers import arguments, limits
from matchwork.integrations.sentence_transformers.activation import (
    Activation,
    activation_path,
    default_activation,
)
from matchwork.matcher import Matcher
from matchwork.matcher.precision import Precision
from matchwork.ordering import order

_FORMATS = ("convert_to_numpy", "convert_to_tensor", "apply_softmax")  # of `predict` alone


class CrossEncoder:
    """Scores pairs of texts and ranks documents for a query.

    A given `Matcher` keeps its limits and settings, but its weights are not copied: `device`
    and `to` move them.

    Args:
        model_name_or_path: Whatever `matchwork.load` opens as a matcher (a cross-encoder or
            bi-encoder of sentence-transformers, "minilm-maxsim", the folder of a matcher), or
            a `Matcher`.
        *positional: `num_labels`, `max_length`, `activation_fn` and `device`, which earlier
            versions of the library took by position.
        device: Where to score; by default the GPU if there is one.
        cache_folder: Where models from the Hugging Face hub are kept, as in the library;
            likewise `revision`, `local_files_only` and `token`.
        max_length: Most subword tokens that are read at once, special ones included.
        activation_fn: Applied to the scores. By default the calibration of a calibrated matcher,
            else the activation that the model's folder names, else a sigmoid for cross-encoders
            and the identity for other models.
        precision: "32", "bf16" or "int8"; not an argument of the library.
        trust_remote_code: Ignored, as is `model_card_data`: no remote code is ever run.
        **older: Names that arguments had in earlier versions of the library.

    Other arguments of the library are refused unless their value changes nothing.

    Attributes:
        matcher: The matcher that scores.

    Raises:
        ConfigError: An argument is unknown or not supported.
    """

    def __init__(
        self,
        model_name_or_path: str | Path | Matcher | None = None,
        *positional: Any,
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
        if len(positional) > len(arguments.POSITIONAL):
            raise ConfigError(
                "CrossEncoder takes all but num_labels, max_length, activation_fn and device by "
                "their names"
            )
        given = {
            **dict(zip(arguments.POSITIONAL, positional, strict=False)),
            **arguments.rename(older, arguments.RENAMED),
        }
        removed = {name: older.pop(name) for name in arguments.REMOVED if name in older}
        if older:
            raise ConfigError(f"CrossEncoder has no argument {next(iter(older))!r}")
        num_labels = given.get("num_labels", num_labels)
        arguments.refuse(
            modules=modules,
            prompts=prompts if any((prompts or {}).values()) else None,
            default_prompt_name=default_prompt_name,
            model_kwargs=arguments.with_effect(model_kwargs),
            processor_kwargs=processor_kwargs,
            config_kwargs=config_kwargs,
            backend=backend if backend != "torch" else None,
            num_labels=num_labels if num_labels != 1 else None,
            keep_in_fp32_modules=keep_in_fp32_modules,
            **removed,
        )
        model = given.get("model_name_or_path", model_name_or_path)
        hub = {
            "cache_dir": given.get("cache_folder", cache_folder),
            "revision": revision,
            "local_files_only": local_files_only or None,
            "token": token,
        }
        matcher = arguments.open_model(model, hub, given.get("device", device), precision)
        self.matcher = copy(matcher)  # with limits of its own
        self._limits = limits.Limits(
            self.matcher.max_query_length,
            self.matcher.max_document_length,
            self.matcher.max_pair_length,
            may_grow=matcher is not model,
        )
        max_length = given.get("max_length", max_length)
        if max_length is not None:
            self.max_length = max_length
        activation_fn = given.get("activation_fn") or activation_fn
        self.activation_fn = activation_fn or default_activation(self.matcher)
        self.model_card_data = _ModelCardData()

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return self.matcher.device

    @property
    def num_labels(self) -> int:
        """Always 1: the score."""
        return 1

    @property
    def default_activation_function(self) -> Activation:
        """Alias of `activation_fn`."""
        return self.activation_fn

    @property
    def max_length(self) -> int | None:
        """Most subword tokens read at once, special ones included; None: any number."""
        return limits.get_max_length(self.matcher)

    @max_length.setter
    def max_length(self, length: int | None) -> None:
        limits.set_max_length(self.matcher, length, self._limits)

    max_seq_length = max_length

    def to(self, device: str | torch.device) -> "CrossEncoder":
        """Move the weights to a device."""
        self.matcher.to(device)
        return self

    def cpu(self) -> "CrossEncoder":
        """Move the weights to the CPU."""
        return self.to("cpu")

    def cuda(self) -> "CrossEncoder":
        """Move the weights to the GPU."""
        return self.to("cuda")

    def save_pretrained(self, path: str | Path, *_: object, **__: object) -> None:
        """Save the matcher; this class and `matchwork.load` open the folder."""
        matcher = copy(self.matcher)
        matcher.score_activation = activation_path(self.activation_fn) or matcher.score_activation
        if type(default_activation(matcher)) is not type(self.activation_fn):
            warn(f"{path}: activation_fn is not saved; give it again", stacklevel=2)
        matcher.save(path)

    save = save_pretrained

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"CrossEncoder of Matchwork has no {name!r}; use its `matcher`, with "
            "`matcher.tokenizer` and `matcher.model`"
        )

    def eval(self) -> "CrossEncoder":
        """Return self: dropout is always off."""
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
        """Score pairs of texts.

        Args:
            inputs: Pairs of texts, or a single pair.
            batch_size: Most pairs that are scored at once.
            show_progress_bar: Whether to show a progress bar on stderr.
            activation_fn: Applied to the scores instead of the default.
            convert_to_numpy: Whether to return an array; else a list of tensors.
            convert_to_tensor: Whether to return a tensor; wins over `convert_to_numpy`.
            device: Moves the weights there first.
            prompt_name: Refused, as are `prompt` and `pool`.
            apply_softmax: Ignored (it is for several labels), as is `chunk_size`.
            **older: `sentences` and `activation_fct`, earlier names of `inputs` and
                `activation_fn`; `num_workers` is ignored.

        Returns:
            One score per pair; of a single pair, one number.
        """
        renamed = arguments.rename(older, arguments.RENAMED_IN_PREDICT)
        inputs = renamed.get("inputs") if inputs is None else inputs
        activation_fn = renamed.get("activation_fn", activation_fn)
        older.pop("num_workers", None)
        devices = device if isinstance(device, list | tuple) else None
        arguments.refuse(prompt_name=prompt_name, prompt=prompt, pool=pool, device=devices, **older)
        if inputs is None:
            raise ConfigError("predict needs pairs of texts, got none")
        if device:
            self.matcher.to(device)
        inputs = inputs.tolist() if isinstance(inputs, np.ndarray) else inputs
        pairs: list[Any] = [inputs] if isinstance(inputs, str) else list(inputs)
        is_single = bool(pairs) and isinstance(pairs[0], str)
        pairs = [pairs] if is_single else pairs
        scores = self._scores(pairs, batch_size, bool(show_progress_bar), activation_fn)
        result: Any = scores
        if not convert_to_tensor:
            result = scores.cpu().numpy() if convert_to_numpy else list(scores)
        return result[0] if is_single else result

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
        """Rank documents for a query.

        Args:
            query: Text of the query.
            documents: Texts to rank.
            top_k: Number of documents to return; all by default.
            return_documents: Whether to return the texts, too.
            **older: As in `predict`; formats of its scores are ignored.

        The other arguments are those of `predict`.

        Returns:
            `corpus_id`, `score` and, on request, `text` of the documents, best first.
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
        for index in order(scores)[:top_k].tolist():
            results.append({"corpus_id": index, "score": scores[index]})
            if return_documents:
                results[-1]["text"] = documents[index]
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
            activated = (activation or self.activation_fn)(column).float()
        return activated.squeeze(-1) if activated.ndim > 1 else activated


class _ModelCardData:
    """Receives the results of the library's evaluators."""

    def set_evaluation_metrics(self, *_: object, **__: object) -> None:
        """Do nothing: there is no model card."""


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
