"""The pictures of the page, made again: `python tests/browser/screenshot.py`.

Serves BM25 and MiniLM, ranks the page's own example with both, and looks inside a result.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests/serve"))

from server_process import PROGRAM, running  # noqa: E402

MODELS = ("bm25", "minilm-maxsim")
IMAGES = ROOT / "docs/images"
SIZE = {"width": 1280, "height": 800}


def main() -> None:
    with running(*PROGRAM, *MODELS) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(server.url)
        page.locator("#second option", has_text=MODELS[1]).wait_for(state="attached")
        page.get_by_label("Compare with").select_option(MODELS[1])
        page.get_by_role("button", name="Try an example").click()
        page.locator("mark").first.wait_for()
        page.screenshot(path=IMAGES / "page.png")
        page.get_by_label("Matcher").select_option(MODELS[1])
        page.get_by_label("Compare with").select_option("")
        page.get_by_role("button", name="Rank", exact=True).click()
        page.locator(".lists-1 .result", has_text="Basil leaves").click()
        page.locator(".matrix").wait_for()
        page.screenshot(path=IMAGES / "page-why.png")
        browser.close()


if __name__ == "__main__":
    main()
