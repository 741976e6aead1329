"""The lab's benches used as a person would, in a real browser; skipped where there is none."""

import contextlib

from in_browser import dragged, looked_at, playwright, says


def test_a_string_is_typed_watched_shaken_and_saved(server, page):
    page.goto(f"{server.url}/#memorize")
    page.wait_for_selector("#player:not([hidden])")
    evil = "<img src=x onerror=alert(1)>"
    page.fill("#text", evil)
    page.press("#text", "Enter")
    says(page, "memorize-status", "onerror")
    assert page.locator("#frontier img, #said img, #memorize-status img").count() == 0
    page.get_by_role("button", name="Watch permutation").click()
    for _ in range(len(evil)):
        page.click("#step")
    assert page.inner_text("#said")[: len(evil)].replace("\xa0", " ") == evil
    assert "all right" in page.inner_text("#score")
    page.click("#back")
    assert f"{len(evil)} symbols" in page.inner_text("#score")
    dragged(page, "noise", 0.02, 0.98)
    page.click("#play")
    says(page, "score", "forgot")
    looked_at(page, "memorize")
    page.click("#play")
    page.click("#restart")
    with page.expect_download() as download:
        page.click("#weights")
    assert download.value.suggested_filename == "memory-permutation.safetensors"


def test_the_newest_string_wins(server, page):
    page.goto(f"{server.url}/#memorize")
    page.wait_for_selector("#player:not([hidden])")
    held = []

    def hold_the_older(route):
        held.append(route) if "older" in route.request.post_data else route.continue_()

    page.route("**/api/memorize", hold_the_older)
    page.fill("#text", "older")
    with page.expect_request("**/api/memorize"):
        page.press("#text", "Enter")
    page.fill("#text", "newer")
    page.press("#text", "Enter")
    says(page, "memorize-status", "newer")
    assert held
    for route in held:
        with contextlib.suppress(playwright.Error):  # the page may have let go of it
            route.continue_()
    page.wait_for_timeout(1500)
    assert "newer" in page.inner_text("#memorize-status")


def test_the_edge_of_chaos_is_felt_by_hand(server, page):
    page.goto(f"{server.url}/#dynamics")
    page.wait_for_selector("#growth-plot svg")
    assert "verdict" not in page.inner_text("#verdict")
    page.evaluate(
        "document.getElementById('coupling').value = 0; document.getElementById('coupling').dispatchEvent(new Event('input'))"
    )
    page.focus("#radius")
    page.keyboard.press("Home")
    says(page, "verdict", "gradients fade")
    dragged(page, "radius", 0.02, 0.98)
    says(page, "verdict", "the state runs away")
    dragged(page, "radius", 0.98, 0.3)
    dragged(page, "coupling", 0.02, 0.98)
    says(page, "verdict", "chaos: the state stays bounded")
    looked_at(page, "dynamics")
    # Who cannot see the plots is told their numbers.
    table = page.get_by_role("table", name="Lyapunov spectrum")
    assert table.get_by_role("rowheader", name="32", exact=True).count() == 2


def test_pairs_are_clicked_until_everything_is_known(server, page):
    page.goto(f"{server.url}/#languages")
    says(page, "connected", "4 pieces")
    for k in range(3):
        page.click(f"#pairs button[data-k='{k}'][data-l='{k + 1}']")
    says(page, "connected", "one piece")
    page.wait_for_selector("#pairs button[data-k='3'][data-l='0'].known")
    label = page.get_attribute("#pairs button[data-k='3'][data-l='0']", "aria-label")
    assert label == "from A into D: not taught, known"
    looked_at(page, "languages")
    for k in range(3):
        page.click(f"#pairs button[data-k='{k}'][data-l='{k + 1}']")
    page.click("#pairs button[data-k='1'][data-l='1']")
    says(page, "connected", "nothing is taught into B and nothing from B")
    page.select_option("#count", "3")
    for k, l in ((k, l) for k in range(3) for l in range(3) if k != l):
        page.click(f"#pairs button[data-k='{k}'][data-l='{l}']")
    says(page, "connected", "every pair is taught")


def test_tabs_follow_the_keyboard_and_the_way_back(server, page):
    page.goto(f"{server.url}/")
    page.focus("#tab-memorize")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#dynamics:not([hidden])")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#languages:not([hidden])")
    page.go_back()
    page.wait_for_selector("#dynamics:not([hidden])")
    assert page.get_attribute("#tab-dynamics", "aria-selected") == "true"
    page.reload()
    page.wait_for_selector("#dynamics:not([hidden])")
