"""The lab's benches used as a person would, in a real browser; skipped where there is none."""

import contextlib

import numpy as np
import pytest
from in_browser import dragged, looked_at, playwright, says


def test_a_string_is_typed_watched_shaken_and_saved(server, page):
    page.goto(f"{server.url}/#memorize")
    page.wait_for_selector("#player:not([hidden])")
    page.click("summary:has-text('All six networks')")
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


def test_two_networks_race_under_the_same_noise(server, page):
    page.goto(f"{server.url}/#memorize?text=abracadabra&method=rotation&rival=tanh&noise=0.4")
    page.wait_for_selector("#orbit-2")
    for _ in range(30):
        page.click("#step")
    assert "rotation, 2 units: forgot at symbol" in page.inner_text("#score")
    assert "tanh, 11 units: 31 symbols, all right" in page.inner_text("#score-2")
    first = page.inner_text("#said")
    page.click("#restart")
    for _ in range(30):
        page.click("#step")
    assert page.inner_text("#said") == first  # the seed fixes the kicks
    looked_at(page, "race")


def test_more_than_two_dimensions_are_circles_and_every_symbol_has_a_look(server, page):
    page.goto(f"{server.url}/#memorize?text=to+be+or+not+to+be%2C+that+is&method=harmonic")
    page.wait_for_selector("#orbit .wheel")
    assert page.locator("#orbit .wheel").count() == 3  # frequencies 1, 2 and 8 of 27
    assert page.locator("#orbit image").count() == 0  # no regions that the orbit is not in
    looks = page.evaluate(
        """async () => { const { look } = await import("/static/picture.js");
        return Array.from({ length: 60 }, (_, n) => Object.values(look(n, 60)).join()); }"""
    )
    assert len(set(looks)) == 60
    # The ring stands on the circles where the network is, and moves by its frequency.
    turned = page.evaluate(
        """async () => { const m = await import("/static/memory.js");
        const answer = await fetch("/api/memorize", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ text: "abcab" }) });
        return (await answer.json()).networks.filter((n) => n.weights && n.dimension > 2).map((n) => {
          const { frequencies, place } = m.circles(n);
          return m.orbit(n).flatMap(([h], t) => place(h).map(([a, b], f) => Math.hypot(a - Math.cos(2 * Math.PI * frequencies[f].k * t / n.period), b - Math.sin(2 * Math.PI * frequencies[f].k * t / n.period)))); }); }"""
    )
    assert turned and all(max(gaps) < 1e-6 for gaps in turned)
    looked_at(page, "circles")


def test_memorize_fits_one_screen(server, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{server.url}/#memorize?text=abracadabra")
    page.wait_for_selector("#orbit")
    for place in ("#orbit", "#text", "#noise", "#play", "#said", "#weights"):
        box = page.locator(place).bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 800, place
    assert not page.locator("#frontier").is_visible()
    page.close()


COUNTED = """() => { window.redraws = 0;
    new MutationObserver((changes) => { window.redraws += changes.some((c) => [...c.addedNodes].some((n) => n.tagName === "svg")); })
      .observe(document.getElementById("spectrum-plot"), { childList: true }); }"""


def test_dragging_asks_nobody_and_draws_all_the_time(server, page):
    page.goto(f"{server.url}/#dynamics")
    page.wait_for_selector("#growth-plot svg")
    page.wait_for_timeout(1500)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate(COUNTED)
    for _ in range(10):  # 160 moves in about five seconds
        dragged(page, "coupling", 0.02, 0.98, pause=25)
        dragged(page, "coupling", 0.98, 0.02, pause=25)
    assert page.evaluate("redraws") >= 5 * 15
    assert [
        url for url in asked if not url.startswith("data:")
    ] == []  # nothing to refuse or to compile
    assert "error" not in (page.get_attribute("#verdict", "class") or "")


def test_axes_stay_while_the_data_fits(server, page):
    page.goto(f"{server.url}/#dynamics?radius=0.9&coupling=0.1")
    page.wait_for_selector("#spectrum-plot svg")
    page.wait_for_timeout(1000)
    ticks = lambda: page.locator("#spectrum-plot text.soft").all_inner_texts()
    before = ticks()
    page.focus("#coupling")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(700)
    assert "coupling=0.11" in page.url and ticks() == before
    assert page.locator("#spectrum-plot .error-bar").count() == 16


def test_the_edge_of_chaos_is_felt_by_hand(server, page):
    page.goto(f"{server.url}/#dynamics?coupling=0&units=32")
    page.wait_for_selector("#growth-plot svg")
    page.focus("#radius")
    page.keyboard.press("Home")
    says(page, "verdict", "gradients fade")
    dragged(page, "radius", 0.02, 0.98)
    says(page, "verdict", "the state runs away")
    dragged(page, "radius", 0.98, 0.3)
    dragged(page, "coupling", 0.02, 0.98)
    says(page, "verdict", "chaos: the state stays bounded")
    # The map says where one is, and takes one elsewhere.
    page.wait_for_selector("#map-plot image")
    box = page.evaluate("document.querySelector('#map-plot svg').getBoundingClientRect().toJSON()")
    page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + 0.6 * box["height"])
    says(page, "verdict", "gradients fade")
    assert float(page.input_value("#coupling")) < 1.5
    looked_at(page, "dynamics")
    # Who cannot see the plots is told their numbers.
    table = page.get_by_role("table", name="Lyapunov spectrum")
    assert table.get_by_role("rowheader", name="32", exact=True).count() == 2


SPECTRUM = """async (asked) => { const m = await import("/static/spectrum.js");
    return { ...m.spectrum(asked, 3000), W: [...m.weights(asked.units, asked.seed)] }; }"""


def test_the_pages_exponents_are_those_of_the_library(server, browser):
    import jax.numpy as jnp

    import remanence as rm
    from remanence.subjects.fading_memory.residual_spectrum import spectral

    page = browser.new_page()
    page.goto(f"{server.url}/")
    for radius, coupling, units, word in (
        (0.5, 0.0, 8, "gradients fade"),
        (1.0, 0.0, 8, "the edge"),
        (0.6, 0.2, 8, "gradients fade"),
        (0.3, 4.0, 32, "chaos: the state stays bounded"),
        (1.2, 0.0, 8, "the state runs away"),  # a linear map: nothing chaotic about it
        (1.05, 1.5, 8, "the state runs away"),
    ):
        asked = {"radius": radius, "angle": 0.7, "coupling": coupling, "units": units, "seed": 0}
        found = page.evaluate(SPECTRUM, asked)
        assert found["regime"].startswith(word), (asked, found["regime"])
        R = jnp.asarray(spectral([radius] * (units // 2), [0.7] * (units // 2)))
        W = jnp.asarray(np.reshape(found["W"], (units, units)))
        cell = rm.cells.Residual(R, W, jnp.zeros((units, 1)), coupling=jnp.asarray(coupling))
        ours = rm.lyapunov_spectrum(cell, steps=3000, h0=jnp.ones(units) / np.sqrt(units))
        gap = np.abs(np.asarray(found["exponents"]) - ours.exponents)
        allowed = 4 * np.hypot(found["errors"], ours.stderr) + 2e-3
        assert (gap <= allowed).all(), (asked, gap, allowed)
        if coupling == 0:
            assert found["growth"][10] == pytest.approx(10 * np.log10(radius), abs=1e-6)
    page.close()


def test_windows_are_proved_and_measured(server, page):
    page.goto(f"{server.url}/#windows?gain=0.5&units=4")
    says(page, "windows-status", "proved in the")
    proved, measured = (page.inner_text(f"#{name}-window") for name in ("proved", "measured"))
    assert int(proved) >= int(measured) >= 1
    dragged(page, "gain", 0.2, 0.98)
    says(page, "windows-status", "nothing is proved")
    assert page.inner_text("#proved-window") == "none"
    looked_at(page, "windows")


def test_pairs_are_clicked_until_everything_is_known(server, page):
    page.goto(f"{server.url}/#languages")
    says(page, "connected", "4 pieces")
    for k in range(3):
        page.click(f"#pairs button[data-k='{k}'][data-l='{k + 1}']")
    says(page, "connected", "one piece")
    page.wait_for_selector("#pairs button[data-k='3'][data-l='0'].known")
    label = page.get_attribute("#pairs button[data-k='3'][data-l='0']", "aria-label")
    assert label == "from A into D: not taught, known"
    assert page.inner_text("output[for=scale]") == "0.1"  # a slider shows its own value
    looked_at(page, "languages")
    for k in range(3):
        page.click(f"#pairs button[data-k='{k}'][data-l='{k + 1}']")
    page.click("#pairs button[data-k='1'][data-l='1']")
    says(page, "connected", "nothing is taught into B and nothing from B")
    page.select_option("#count", "3")
    for k, l in ((k, l) for k in range(3) for l in range(3) if k != l):
        page.click(f"#pairs button[data-k='{k}'][data-l='{l}']")
    says(page, "connected", "every pair is taught")


def test_what_is_learned_follows_from_what_is_connected(server, browser):
    page = browser.new_page()
    page.goto(f"{server.url}/")
    learn = """async (T) => { const m = await import("/static/learning.js"), f = m.learn(T, 0.1, 0);
        return [m.pieces(T), f.taught.at(-1), f.untaught.at(-1)]; }"""
    pieces, taught, untaught = page.evaluate(learn, [[1, 1, 0], [0, 1, 1], [0, 0, 1]])
    assert pieces == 1 and taught < 1e-6 and untaught < 1e-6
    pieces, taught, untaught = page.evaluate(learn, [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert pieces == 3 and taught < 1e-6 and untaught > 0.5
    page.close()


def test_tabs_follow_the_keyboard_and_the_way_back(server, page):
    page.goto(f"{server.url}/")
    page.focus("#tab-memorize")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#dynamics:not([hidden])")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#windows:not([hidden])")
    page.go_back()
    page.wait_for_selector("#dynamics:not([hidden])")
    assert page.get_attribute("#tab-dynamics", "aria-selected") == "true"
    page.reload()
    page.wait_for_selector("#dynamics:not([hidden])")
