"""`matchwork serve`: matchers over HTTP, in the protocols that rerank clients speak."""

from pathlib import Path
from typing import Annotated

import typer

from matchwork.cli import show
from matchwork.cli.options import Precision, examples

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
            help="Folder of a saved matcher or BM25 index, [bold]bm25[/] (fitted on the documents "
            "of each request), or a name such as minilm-maxsim. NAME=MODEL sets the name that "
            "clients use; by default it is that of the folder. The first model answers requests "
            "that name none.",
        ),
    ],
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all interfaces.")] = (
        "127.0.0.1"
    ),
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any free one.")
    ] = 8000,
    workers: Annotated[int, typer.Option(min=1, help="Processes; each loads the models.")] = 1,
    api_key_file: Annotated[
        Path | None,
        typer.Option(help="File of accepted API keys, one per line.", show_default="no key needed"),
    ] = None,
    max_batch: Annotated[
        int, typer.Option(min=1, help="Maximum number of pairs in a batch.")
    ] = 256,
    max_wait_ms: Annotated[
        float,
        typer.Option(min=0, help="Maximum time to wait for more requests before running a batch."),
    ] = 2.0,
    max_queue: Annotated[
        int, typer.Option(min=1, help="Maximum number of pairs waiting for a model; more get 429.")
    ] = 4096,
    max_documents: Annotated[
        int, typer.Option(min=1, help="Maximum number of documents in a request.")
    ] = 1000,
    max_chars: Annotated[
        int, typer.Option(min=1, help="Maximum length of a text, in characters.")
    ] = 20_000,
    max_body_mb: Annotated[
        int, typer.Option(min=1, help="Maximum size of a request body, in MiB.")
    ] = 16,
    deadline_ms: Annotated[
        int, typer.Option(min=1, help="Maximum time to answer a request; later is 504.")
    ] = 30_000,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Minimum probability of a document in a ranking.")
    ] = 0.0,
    collection: Annotated[
        Path | None,
        typer.Option(
            help="Corpus file with the columns id and text (TSV, CSV, JSONL or Parquet), in which "
            "`/search` and the page find candidates.",
            show_default=False,
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="Device: auto, cpu, cuda, cuda:1, …")] = "auto",
    precision: Precision = "32",
    log_text: Annotated[bool, typer.Option("--log-text", help="Also log request bodies.")] = False,
) -> None:
    """Serve matchers over HTTP, with the APIs of Cohere, Jina and text-embeddings-inference.

    `POST /v2/rerank` (Cohere), `/v1/rerank` (Jina) and `/rerank` (TEI) rank documents, `/score`
    scores pairs, `/explain` explains a score. `GET /` is a page to try it in a browser;
    `/models`, `/health`, `/metrics` and `/openapi.json` describe the service.
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
    names = ", ".join(source.name for source in sources)
    run(plan, host, port, lambda address: show.line(f"serving {names} on {address}"))
