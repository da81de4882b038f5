"""Links, keys, themes, narrow screens, and that nothing leaves the server's own address."""

import random

from playwright.sync_api import expect

QUERY = "who wrote hamlet"
TEXTS = ("a hamlet is a settlement", "shakespeare wrote hamlet 😀", "picasso painted guernica")


def test_a_link_holds_everything(at_home, visit, server):
    at_home.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    at_home.ask(QUERY, *TEXTS, models=("bag", "bm25"))
    lists = at_home.ranked(0), at_home.ranked(1)
    at_home.page.get_by_role("button", name="Copy link").click()
    expect(at_home.page.locator("#share-note")).to_have_text("Link copied.")
    link = at_home.page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{server.url}/#")
    other = visit(server, link.removeprefix(f"{server.url}/"))
    assert (other.ranked(0), other.ranked(1)) == lists
    expect(other.page.get_by_label("Query")).to_have_value(QUERY)
    expect(other.page.get_by_label("Candidates", exact=True)).to_have_value("\n".join(TEXTS))
    assert QUERY.split()[2] not in server.log()


def test_a_link_to_an_explanation(at_home, visit, server):
    at_home.ask(QUERY, *TEXTS)
    second = at_home.ranked()[1]
    at_home.page.locator(".result").nth(1).click()
    expect(at_home.page.locator("dialog .matrix")).to_be_visible()
    at_home.page.wait_for_function("location.hash !== ''")
    other = visit(server, at_home.page.evaluate("location.hash"))
    expect(other.page.locator("dialog .quote")).to_have_text(second)


def test_candidates_too_long_for_a_link(at_home, visit, server):
    letters = random.Random(1)
    texts = ["".join(letters.choices("abcdefghijklmnop ", k=900)) for _ in range(20)]
    at_home.ask(QUERY, *texts, models=("bm25",))
    at_home.ranked()
    at_home.page.get_by_role("button", name="Copy link").click()
    expect(at_home.page.locator("#share-note")).to_contain_text("too long for a link")
    other = visit(server, at_home.page.evaluate("location.hash"))
    expect(other.page.locator("#status")).to_contain_text("The link contains no candidates")
    expect(other.page.get_by_label("Query")).to_have_value(QUERY)


def test_a_damaged_link(visit, server):
    for fragment in ("#s=AAAA", "#s=*", "#s="):
        page = visit(server, fragment).page
        expect(page.get_by_role("alert")).to_contain_text("This link is damaged.")


def test_with_the_keyboard_alone(at_home):
    page = at_home.page

    def focused(css):
        return page.evaluate("css => document.activeElement.matches(css)", css)

    def tab_to(css):
        for _ in range(20):
            page.keyboard.press("Tab")
            if focused(css):
                return
        raise AssertionError(f"Tab never reaches {css}")

    tab_to("#query")
    page.keyboard.type(QUERY)
    tab_to("#candidates")
    page.keyboard.type("\n".join(TEXTS))
    tab_to("#second")
    page.keyboard.type("bm25")
    tab_to("#run")
    page.keyboard.press("Enter")
    first = at_home.ranked()
    tab_to(".result")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert focused(".list:nth-child(2) .result")
    here = page.evaluate("document.activeElement.querySelector('.text').textContent")
    assert here == first[1]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("End")
    assert focused("li:last-child .result")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.locator("#why-title")).to_be_focused()
    tab_to("#next")
    page.keyboard.press("Enter")
    expect(page.locator("dialog .quote").first).to_have_text(first[1])
    page.keyboard.press("Escape")
    expect(page.locator(".list").first.locator(".result").nth(1)).to_be_focused()


def brightness(page):
    """Of the page behind everything, 0 to 255."""
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(","))) / 3


def test_light_and_dark(visit, server):
    assert brightness(visit(server, color_scheme="light").page) > 200
    page = visit(server, color_scheme="dark").page
    assert brightness(page) < 60
    page.get_by_role("button", name="Theme: auto").click()
    assert brightness(page) > 200
    page.reload()
    expect(page.get_by_role("button", name="Theme: light")).to_be_visible()
    assert brightness(page) > 200
    page.get_by_role("button", name="Theme: light").click()
    assert brightness(page) < 60


def test_a_phone_never_scrolls_sideways(visit, server):
    made = visit(server, viewport={"width": 360, "height": 740}, has_touch=True)
    page = made.page
    page.locator("#first option").first.wait_for(state="attached")

    def widths():
        inside = "each => [each.scrollWidth, each.clientWidth]"
        return page.locator("html").evaluate(inside), page.locator("#why-body").evaluate(inside)

    def assert_fits():
        for content, room in widths():
            assert content <= room

    assert_fits()
    long_word = "Donaudampfschifffahrtsgesellschaftskapitän" * 3
    made.ask(QUERY, f"{long_word} wrote " * 5, *TEXTS, models=("bag", "match-srnn"))
    made.ranked(1)
    assert_fits()
    expect(page.locator("#status")).to_be_in_viewport()  # though the form is above
    page.locator(".result").first.tap()
    expect(page.locator("dialog .matrix").nth(1)).to_be_visible()
    assert_fits()


def test_everything_has_a_name(at_home):
    at_home.ask(QUERY, *TEXTS)
    at_home.ranked()
    nameless = at_home.page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, textarea")].filter(
            (each) => !each.textContent.trim() && !each.labels?.length && !each.ariaLabel
        ).map((each) => each.id)"""
    )
    assert nameless == []


def test_the_policy_forbids_what_the_page_does_not_do(at_home):
    """Nothing inline, nothing from elsewhere: else text that is not text could act."""
    at_home.refusals_expected = True
    blocked = at_home.page.evaluate(
        """async () => {
            const seen = [];
            document.addEventListener("securitypolicyviolation", (event) =>
                seen.push(event.effectiveDirective));
            const inline = document.createElement("script");
            inline.textContent = "window.acted = true";
            document.body.append(inline);
            await fetch("https://example.org/").catch(() => {});
            await new Promise((done) => setTimeout(done, 100));
            return [...seen, String(window.acted)];
        }"""
    )
    assert sorted(blocked) == ["connect-src", "script-src-elem", "undefined"]
    assert all("Content Security Policy" in each for each in at_home.problems)
    at_home.problems.clear()
