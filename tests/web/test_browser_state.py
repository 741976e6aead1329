"""What stands in the address, several people, a lab that is gone, keyboard, paper and axe."""

import os
import pathlib
import sys

import pytest
from in_browser import dragged, PATIENCE, playwright, says
from lab_server import Server, SMALL


TABS = ("memorize", "dynamics", "windows", "languages", "checkup", "studies")
CUT = """[...document.querySelectorAll('main *')].filter((e) => e.scrollWidth > e.clientWidth + 1
    && getComputedStyle(e).overflowX !== 'visible' && !e.closest('.unseen, select, input, .skip')).map((e) => e.id || e.className)"""
STATES = {
    "memorize": ("text=hello&method=tanh&noise=0.5&kicks=3", "score", "tanh, 5 units"),
    "dynamics": ("radius=0.5&coupling=0.1&units=4&seed=2", "verdict", "gradients fade"),
    "windows": ("kind=tanh&units=4&gain=0.3&error=-4", "windows-status", "state of 4 numbers"),
    "languages": ("taught=110-011-001", "connected", "one piece"),
    "studies": ("study=stable-recurrence&seed=3", "stored", "stable-recurrence"),
}


@pytest.mark.parametrize("tab", STATES)
def test_a_link_and_a_reload_restore_the_state(server, page, tab):
    state, place, words = STATES[tab]
    page.goto(f"{server.url}/#{tab}?{state}")
    says(page, place, words)
    values = "[...document.querySelectorAll('[name]')].map((f) => f.value)"
    before = page.evaluate(values)
    page.reload()
    says(page, place, words)
    assert page.evaluate(values) == before
    for part in state.split("&"):
        assert part in page.url


def test_what_a_hand_does_is_in_the_address_and_can_be_copied(server, browser):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{server.url}/#dynamics")
    page.wait_for_selector("#growth-plot svg")
    dragged(page, "coupling", 0.02, 0.5)
    page.wait_for_url("**coupling=*")
    page.click("#tab-languages")
    says(page, "connected", "4 pieces")
    page.click("#tab-dynamics")  # what was set there is still there
    page.wait_for_selector("#dynamics:not([hidden])")
    page.click("#copy")
    says(page, "copied", "copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url and "#dynamics?coupling=" in link
    says(page, "verdict", "exponent")
    friend = browser.new_page()
    friend.goto(link)
    friend.wait_for_selector("#growth-plot svg")
    assert friend.input_value("#coupling") == page.input_value("#coupling")
    playwright.expect(friend.locator("#verdict")).to_have_text(
        page.inner_text("#verdict"), timeout=PATIENCE
    )
    # Nonsense in an address is passed over.
    friend.goto(f"{server.url}/#dynamics?units=7&radius=many&angle=99&nonsense=%00")
    says(friend, "verdict", "exponent")
    assert (friend.input_value("#units"), friend.input_value("#angle")) == ("16", "3.14")
    friend.close()
    context.close()


def test_six_examples_a_tab_all_of_which_do_something(server, page):
    page.goto(f"{server.url}/")
    for tab in TABS:
        assert page.locator(f"#{tab} .examples a").count() == 6
    for tab in ("dynamics", "languages"):
        page.click(f"#tab-{tab}")
        said = set()
        for n in range(6):
            page.click(f"#{tab} .examples a >> nth={n}")
            page.wait_for_timeout(600)
            place = page.locator("#verdict" if tab == "dynamics" else "#connected")
            said.add(place.inner_text())
        assert len(said) >= 5


def test_two_people_at_once(server, browser):
    """A long string in one tab holds up nobody else, and nobody is refused."""
    texts = ("01" * 12 + "0010111011110000" * 2, "abracadabra")
    people = [browser.new_context().new_page() for _ in range(3)]
    refused = []
    for person in people:
        person.set_default_timeout(PATIENCE)
        person.on("response", lambda answer: answer.status >= 400 and refused.append(answer.url))
    people[0].goto(f"{server.url}/#memorize?text={texts[0]}")
    people[1].goto(f"{server.url}/#windows?units=4")
    says(people[1], "windows-status", "metric")
    people[2].goto(f"{server.url}/#memorize")
    for part in range(1, 8):  # one types, the other drags
        people[2].fill("#text", texts[1][:part])
        dragged(people[1], "gain", 0.1 + part / 20, 0.15 + part / 20)
    says(people[2], "memorize-status", "networks that repeat “abracad”")
    says(people[1], "windows-status", "Elman, state of 4 numbers")
    says(people[0], "memorize-status", "networks that repeat “0101")
    assert refused == []
    for person in people:
        person.context.close()


def test_a_lab_that_was_stopped_says_so_in_every_tab(tmp_path, browser):
    running = Server(tmp_path, [sys.executable, str(SMALL)])
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{running.url}/#memorize")
    page.wait_for_selector("#player:not([hidden])")
    for tab in TABS[1:]:
        page.click(f"#tab-{tab}")
    page.wait_for_selector("#stored table")
    running.stop()
    gone = "the lab does not answer: is remanence serve still running?"
    page.click("#tab-memorize")
    page.fill("#text", "another")
    says(page, "memorize-status", gone)
    page.click("#tab-windows")
    page.click("#drawn-again")
    says(page, "windows-status", gone)
    page.click("#tab-checkup")
    page.click("#checkup .examples a >> nth=0")
    says(page, "checkup-status", gone)
    page.click("#tab-studies")
    page.click("#study-form button[type=submit]")
    says(page, "job-state", gone)
    page.click("#tab-dynamics")  # what the page computes goes on
    dragged(page, "radius", 0.5, 0.1)
    says(page, "verdict", "gradients fade")
    page.close()


def test_the_keyboard_alone_will_do(server, page):
    page.goto(f"{server.url}/#memorize")
    page.wait_for_selector("#player:not([hidden])")

    def tab_to(place):
        for _ in range(60):
            if page.evaluate("document.activeElement?.id") == place:
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"{place} is not reached")

    tab_to("text")
    page.keyboard.press("Control+a")
    page.keyboard.type("abab")
    says(page, "memorize-status", "“abab”")
    tab_to("noise")
    page.keyboard.press("End")
    assert page.input_value("#noise") == "4"
    tab_to("step")
    page.keyboard.press("Enter")
    assert "2 symbols" in page.inner_text("#score") or "of 2" in page.inner_text("#score")
    page.keyboard.press("Shift+Tab")
    page.evaluate("document.activeElement.blur()")
    tab_to("tab-memorize")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#dynamics:not([hidden])")
    tab_to("coupling")
    page.keyboard.press("PageUp")
    page.wait_for_url("**coupling=*")
    page.evaluate("document.activeElement.blur()")
    tab_to("tab-dynamics")
    page.keyboard.press("End")
    page.wait_for_selector("#studies:not([hidden])")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#memorize:not([hidden])")


@pytest.mark.parametrize("tab", TABS)
def test_nothing_is_cut_on_screen_or_on_paper(server, page, tab):
    page.goto(f"{server.url}/#{tab}")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.emulate_media(media="print")
    assert page.evaluate(CUT) == []
    paper = page.pdf(format="A4")
    assert paper.startswith(b"%PDF") and len(paper) > 5000
    page.emulate_media(media="screen")


AXE = os.environ.get("AXE")


@pytest.mark.skipif(not AXE, reason="axe-core is not there (browser.sh fetches it)")
@pytest.mark.parametrize("tab", TABS)
def test_axe_finds_nothing(server, page, tab):
    page.goto(f"{server.url}/#{tab}")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(800)
    page.evaluate(pathlib.Path(AXE).read_text())
    found = page.evaluate("axe.run()")
    told = [(v["id"], [n["target"] for n in v["nodes"]][:3]) for v in found["violations"]]
    assert told == [] and len(found["passes"]) > 10
