"""`matchwork serve`: matchers behind the protocols that rerank clients speak."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from matchwork.cli import show
from matchwork.cli.options import Precision, examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matchwork.serve.opening import Source

EXAMPLES = examples(
    "matchwork serve runs/wikiqa/iasm-dynamic/seed-1/matcher --port 8000",
    "matchwork serve answers=MATCHER bm25 minilm-maxsim --api-key-file keys.txt",
    "matchwork serve MATCHER bm25 --collection corpus.tsv",
    "matchwork serve MATCHER --workers 4 --max-queue 1024 --deadline-ms 2000",
)


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Folder of a saved matcher or of a BM25 index, [bold]bm25[/] (fitted on the "
            "documents of each request), or a name such as minilm-maxsim. NAME=MODEL chooses the "
            "name that clients use. The first answers requests that name none.",
        ),
    ],
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 is every one.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, help="Processes, each with its matchers.")] = 1,
    api_key_file: Annotated[
        Path | None, typer.Option(help="Accepted keys, one a line.", show_default="no key needed")
    ] = None,
    max_batch: Annotated[int, typer.Option(min=1, help="Pairs scored together.")] = 256,
    max_wait_ms: Annotated[
        float, typer.Option(min=0, help="How long a batch waits for company.")
    ] = 2.0,
    max_queue: Annotated[
        int, typer.Option(min=1, help="Pairs that may wait for a matcher; beyond: 429.")
    ] = 4096,
    max_documents: Annotated[int, typer.Option(min=1, help="Of one request.")] = 1000,
    max_chars: Annotated[int, typer.Option(min=1, help="Of one text.")] = 20_000,
    max_body_mb: Annotated[int, typer.Option(min=1, help="Of one request.")] = 16,
    deadline_ms: Annotated[int, typer.Option(min=1, help="Of one request; beyond: 504.")] = 30_000,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Leave less probable documents out of rankings.")
    ] = 0.0,
    collection: Annotated[
        Path | None,
        typer.Option(
            help="Corpus file (id and text; TSV, CSV, JSONL, Parquet) whose documents `/search` "
            "and the page find candidates in.",
            show_default=False,
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, …")] = "auto",
    precision: Precision = "32",
    log_text: Annotated[
        bool, typer.Option("--log-text", help="Log the texts of requests, too.")
    ] = False,
) -> None:
    """Serve matchers over HTTP, as Cohere, Jina and text-embeddings-inference do.

    `POST /v2/rerank`, `/v1/rerank` and `/rerank` rank documents, `/score` scores pairs,
    `/explain` says why; `GET /models`, `/health`, `/metrics` and `/openapi.json` tell the rest.
    `GET /` is a page to try all this in a browser.
    """
    from matchwork.serve import Settings
    from matchwork.serve.keys import read_keys
    from matchwork.serve.opening import parse_source
    from matchwork.serve.process import Plan
    from matchwork.serve.process import serve as run

    settings = Settings(
        max_batch=max_batch,
        max_wait_ms=max_wait_ms,
        max_queue=max_queue,
        max_documents=max_documents,
        max_chars=max_chars,
        max_body_bytes=max_body_mb << 20,
        deadline_ms=deadline_ms,
        threshold=threshold,
        api_keys=read_keys(api_key_file) if api_key_file else (),
        log_text=log_text,
    )
    sources = [parse_source(model) for model in models]
    plan = Plan(sources, settings, device, precision, workers, collection)
    run(plan, host, port, lambda address: show.line(f"serving {_names(plan.sources)} on {address}"))


def _names(sources: "Sequence[Source]") -> str:
    return ", ".join(source.name for source in sources)
