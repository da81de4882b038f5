"""What goes wrong is said in words, with what helps."""

import re
import threading
import time

import pytest
from playwright.sync_api import expect

KEY = {"Authorization": "Bearer a-key"}


@pytest.fixture
def keyed(visit, slow):
    """The page of the slow server, its key entered."""
    made = visit(slow)
    made.refusals_expected = True
    expect(made.page.get_by_role("alert")).to_contain_text("The server needs an API key.")
    made.page.get_by_label("API key").fill("a-key")
    made.page.get_by_label("API key").blur()
    made.page.locator("#first option").first.wait_for(state="attached")
    return made


def test_a_key_is_asked_for_and_kept_in_this_tab_only(keyed):
    page = keyed.page
    expect(page.get_by_role("alert")).to_be_hidden()
    keyed.ask("1", "a", "longer")
    assert keyed.ranked() == ["longer", "a"]
    assert page.evaluate("Object.values(sessionStorage)") == ["a-key"]
    assert "a-key" not in str(page.evaluate("Object.values(localStorage)")) + page.url
    page.reload()
    assert keyed.ranked() == ["longer", "a"]  # from the address, with the key of before
    page.get_by_label("API key").fill("wrong")
    page.get_by_label("API key").blur()
    expect(page.get_by_role("alert")).to_contain_text("The server does not accept this key.")


def test_overload_says_when_to_try_again(keyed, slow):
    def fill(query, num_texts):
        body = {"query": query, "texts": ["a"] * num_texts}
        slow.client.post("/rerank", json=body, headers=KEY)

    threads = [threading.Thread(target=fill, args=("2500", 1))]
    threads[0].start()
    slow.wait_for("matchwork_requests_in_flight", 2, **KEY)  # it, and the one who asks
    time.sleep(0.2)
    threads.append(threading.Thread(target=fill, args=("1", 4)))
    threads[1].start()
    slow.wait_for("matchwork_queue_pairs", 4, **KEY)
    keyed.ask("1", "a", "b")
    alert = keyed.page.get_by_role("alert")
    expect(alert).to_contain_text("overloaded")
    expect(alert.get_by_role("button")).to_have_text(re.compile(r"Try again in \d+ s"))
    for thread in threads:
        thread.join()
    alert.get_by_role("button", name=re.compile("Try again$")).click()
    assert keyed.ranked() == ["a", "b"]
    expect(alert).to_be_hidden()


def test_too_much_at_once(keyed):
    keyed.ask("1", "x" * 5000)
    alert = keyed.page.get_by_role("alert")
    expect(alert).to_contain_text("The body is larger than 4000 bytes.")
    expect(alert).to_contain_text("Send fewer or shorter candidates.")


def test_cancel(keyed):
    keyed.ask("1500", "a")
    expect(keyed.page.locator("#progress")).to_be_visible()
    expect(keyed.page.locator("#status")).to_have_text("Scoring 1 candidate with slow …")
    keyed.page.get_by_role("button", name="Cancel").click()
    expect(keyed.page.locator("#status")).to_have_text("Cancelled.")
    expect(keyed.page.locator("#progress")).to_be_hidden()
    expect(keyed.page.get_by_role("alert")).to_be_hidden()
    expect(keyed.page.get_by_role("button", name="Rank", exact=True)).to_be_focused()


def test_a_matcher_that_is_gone(at_home):
    at_home.refusals_expected = True
    at_home.page.evaluate("document.getElementById('first').append(new Option('bagg'))")
    at_home.ask("fox", "a fox", models=("bagg",))
    alert = at_home.page.get_by_role("alert")
    expect(alert).to_contain_text("No model named 'bagg'; did you mean 'bag'?")
    expect(alert).to_contain_text("Pick another matcher")
    expect(at_home.page.get_by_label("Matcher")).to_have_value("bag")


def test_no_network(at_home):
    at_home.refusals_expected = True
    at_home.page.context.set_offline(True)
    at_home.ask("fox", "a fox")
    alert = at_home.page.get_by_role("alert")
    expect(alert).to_contain_text("The server cannot be reached.")
    at_home.page.context.set_offline(False)
    alert.get_by_role("button", name="Try again").click()
    assert at_home.ranked() == ["a fox"]


def test_more_candidates_than_the_server_takes(at_home):
    at_home.refusals_expected = True
    file = {"name": "many.txt", "mimeType": "text/plain", "buffer": b"a fox\n" * 1001}
    at_home.page.locator("#file").set_input_files(file)
    expect(at_home.page.locator("#count")).to_have_text("1,001 texts")
    at_home.ask("fox")
    alert = at_home.page.get_by_role("alert")
    expect(alert).to_contain_text("1001 pairs are too many; at most 1000.")
