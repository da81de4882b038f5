"""The page in a real browser, asked of real servers with trained matchers."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from server_process import PROGRAM, SLOW, Server, running
from toy_matchers import train_matchers

from matchwork.data import toy
from matchwork.matcher import Matcher

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
PATIENCE = 10_000  # milliseconds
SLOW_SETTINGS = (
    '{"max_queue": 4, "max_batch": 2, "max_wait_ms": 0, "max_body_bytes": 4000, '
    '"api_keys": ["a-key"]}'
)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return train_matchers(tmp_path_factory.mktemp("shown"), "bag", "match-srnn", "hcan")


@pytest.fixture(scope="session")
def bag(folders: dict[str, Path]) -> Matcher:
    """What the first matcher of the server answers."""
    return Matcher.load(folders["bag"])


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("collection") / "corpus.tsv"
    rows = [f"{id}\t{text}\n" for id, text in toy()["train"].documents.items()]
    path.write_text("".join(["id\ttext\n", *rows]))
    return path


@pytest.fixture(scope="session")
def server(folders: dict[str, Path], corpus: Path) -> Iterator[Server]:
    models = (*folders.values(), "bm25")
    with running(*PROGRAM, *models, "--collection", corpus) as server:
        yield server


@pytest.fixture(scope="session")
def slow() -> Iterator[Server]:
    """Its queries are milliseconds that it takes; it wants a key and little at once."""
    with running(*SLOW, SLOW_SETTINGS) as server:
        yield server


@pytest.fixture(scope="module")  # no longer: its event loop would be in the way of other tests
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on the PATH; where there is apt: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


@dataclass
class Visit:
    """A page, and what went wrong behind the back of its reader."""

    page: Page
    origin: str
    refusals_expected: bool = False
    problems: list[str] = field(default_factory=list)

    def watch(self) -> None:
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda said: self._note(said.type, said.text))
        self.page.on("request", lambda request: self._stay_at_home(request.url))

    def _note(self, kind: str, text: str) -> None:
        refused = "Failed to load resource" in text
        if kind in ("error", "warning") and not (refused and self.refusals_expected):
            self.problems.append(text)

    def _stay_at_home(self, url: str) -> None:
        if not url.startswith(f"{self.origin}/"):
            self.problems.append(f"asked {url}")

    def ask(self, query: str, *candidates: str, models: tuple[str, ...] = ()) -> None:
        """Fill in the form and rank."""
        page = self.page
        page.get_by_label("Query").fill(query)
        if candidates:
            page.get_by_label("Candidates", exact=True).fill("\n".join(candidates))
        for label, name in zip(("Matcher", "Compare with"), models, strict=False):
            page.get_by_label(label).select_option(name)
        page.get_by_role("button", name="Rank", exact=True).click()

    def ranked(self, number: int = 0) -> list[str]:
        """The texts of a list, best first."""
        self.page.locator(".ranked").nth(number).locator(".result").first.wait_for()
        return self.page.locator(".ranked").nth(number).locator(".text").all_inner_texts()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """`visit(server, fragment)`: afterwards nothing must have gone wrong unseen."""
    made: list[Visit] = []
    with ExitStack() as stack:

        def go(server: Server, fragment: str = "", **context) -> Visit:
            opened = browser.new_context(**context)
            stack.callback(opened.close)
            opened.set_default_timeout(PATIENCE)
            made.append(Visit(opened.new_page(), server.url))
            made[-1].watch()
            made[-1].page.goto(f"{server.url}/{fragment}")
            return made[-1]

        yield go
        assert [visit.problems for visit in made if visit.problems] == []


@pytest.fixture
def at_home(visit: Callable[..., Visit], server: Server) -> Visit:
    """The page of the usual server, with its matchers known."""
    made = visit(server)
    made.page.locator("#first option").first.wait_for(state="attached")
    return made
