"""Studies, dropped files and pages of results in a real browser; skipped where there is none."""

import io
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from in_browser import looked_at, PATIENCE, says
from lab_server import Server, SMALL


@pytest.fixture(scope="module")
def patient_server(tmp_path_factory):
    """A server whose second study waits to be cancelled."""
    patch = pytest.MonkeyPatch()
    patch.setenv("SMALL_STUDY", json.dumps({"fading_memory": {"wait": 300.0}}))
    running = Server(tmp_path_factory.mktemp("lab"), [sys.executable, str(SMALL)])
    yield running
    running.stop()
    patch.undo()


def test_a_study_is_run_followed_cancelled_and_compared(patient_server, page):
    page.goto(f"{patient_server.url}/#studies")
    page.wait_for_selector("#stored table")
    page.wait_for_load_state("networkidle")  # a page before may have left a job
    page.select_option("#study", "memorization")
    page.click("#study-form button[type=submit]")
    says(page, "job-state", "done")
    assert "about a second" in page.inner_text("#progress") or "read back" in page.inner_text(
        "#progress"
    )
    page.wait_for_selector("#compare table")
    assert "0 wrong symbols" in page.inner_text("#compare")
    page.select_option("#study", "fading-memory")
    page.click("#study-form button[type=submit]")
    says(page, "progress", "turning")
    page.reload()  # a refresh finds the job again
    says(page, "progress", "turning")
    page.click("#cancel")
    says(page, "job-state", "cancelled")
    assert "finished parts" in page.inner_text("#progress")
    looked_at(page, "studies")
    page.click("#stored a")
    page.wait_for_selector(".claim")
    page.go_back()
    page.wait_for_selector("#stored table")


def test_a_lab_that_is_gone_is_told(tmp_path, monkeypatch, browser):
    monkeypatch.setenv("SMALL_STUDY", json.dumps({"memorization": {"wait": 300.0}}))
    first = Server(tmp_path, [sys.executable, str(SMALL)])
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    try:
        page.goto(f"{first.url}/#studies")
        page.wait_for_selector("#stored table")
        page.click("#study-form button[type=submit]")
        says(page, "progress", "turning")
        first.stop()
        says(page, "job-state", "does not answer")
    finally:
        page.close()
        first.stop()


DROP = """(files) => {
    const given = new DataTransfer();
    for (const [name, bytes] of files) given.items.add(new File([new Uint8Array(bytes)], name));
    document.getElementById("drop").dispatchEvent(
        new DragEvent("drop", { dataTransfer: given, bubbles: true, cancelable: true }));
}"""


def test_a_dropped_file_is_examined_or_refused(tmp_path_factory, browser):
    from safetensors.numpy import save

    rng = np.random.default_rng(0)

    def weights(units):
        shapes = {"weight_ih_l0": (units, 2), "weight_hh_l0": (units, units)}
        drawn = {n: rng.normal(size=s, scale=0.3) for n, s in shapes.items()}
        return list(save({n: a.astype(np.float32) for n, a in drawn.items()}))

    inputs = io.BytesIO()
    np.save(inputs, rng.normal(size=(120, 2)))
    running = Server(tmp_path_factory.mktemp("lab"))
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.set_default_timeout(120_000)
    wrong = []
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    try:
        page.goto(f"{running.url}/#checkup")
        name = "<img src=x onerror=alert(1)>.safetensors"
        page.wait_for_load_state("networkidle")
        page.evaluate(DROP, [[name, list(b"no network at all")]])
        assert name in page.inner_text("#checkup-status")
        # It must be chosen what a text is before it is examined.
        page.select_option("#source", "text")
        page.click("#examine")
        says(page, "checkup-status", "type a text or choose a file")
        page.fill("#typed", "<b>to be</b>")
        page.click("#examine")
        says(page, "checkup-status", "not a whole safetensors file")
        # Weights and inputs dropped together; a long one cancelled, a short one examined.
        heard = ["inputs.npy", list(inputs.getvalue())]
        page.evaluate(DROP, [[name, weights(192)], heard])
        assert page.input_value("#source") == "npy"
        page.click("#examine")
        page.click("#cancel-checkup")
        says(page, "checkup-status", "cancelled")
        page.evaluate(DROP, [[name, weights(4)], heard])
        page.click("#examine")
        page.wait_for_selector("#checkup-result table")
        assert "largest exponent" in page.inner_text("#checkup-result")
        assert "On 120 steps from inputs.npy" in page.inner_text("#checkup-result")
        looked_at(page, "checkup")
        page.reload()  # a refresh loses no finished result
        page.wait_for_selector("#checkup-result table")
        with page.expect_popup() as popup:
            page.click("text=Open the whole page")
        popup.value.wait_for_load_state()
        assert popup.value.title()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert wrong == []
    finally:
        page.close()
        running.stop()


@pytest.fixture(scope="module")
def real_server(tmp_path_factory):
    """A lab whose checkups are the command's own."""
    running = Server(tmp_path_factory.mktemp("lab"))
    yield running
    running.stop()


def test_every_kind_of_file_is_read(real_server, browser, tmp_path, monkeypatch):
    for module in ("h5py", "onnx"):
        pytest.importorskip(module)
    monkeypatch.syspath_prepend(str(pathlib.Path(__file__).parents[1] / "formats"))
    monkeypatch.chdir(tmp_path)
    from hostile import seeds

    files = dict(seeds())
    assert set(files) >= {".safetensors", ".pt", ".pth", ".onnx", ".npz", ".h5", ".keras"}
    page = browser.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{real_server.url}/#windows")
    says(page, "windows-status", "metric")
    for ending, content in files.items():
        path = tmp_path / f"my network{ending}"
        path.write_bytes(content)
        with page.expect_response("**/api/windows/file?*") as answer:
            page.set_input_files("#window-file", path)
        assert answer.value.ok, (ending, answer.value.text())
        assert int(page.inner_text("#measured-window")) >= 1
    with page.expect_response("**/api/windows/file?*") as answer:  # of the same file
        page.fill("#allowed", "-6")
    assert answer.value.ok and "error=0.000001" in answer.value.url
    # The checkup takes them the same way, and the two files of a Hugging Face folder; it
    # says its stages, and calls the network by its name.
    page.goto(f"{real_server.url}/#checkup?steps=60")
    (tmp_path / "config.json").write_text('{"model_type": "mine"}')
    both = [tmp_path / "my network.safetensors", tmp_path / "config.json"]
    page.set_input_files("#file", both)
    says(page, "checkup-status", "config.json")
    page.click("#examine")
    page.wait_for_selector("#stages li", state="attached")
    assert "my network: Lyapunov exponents" in page.inner_text("#stages")
    page.wait_for_selector("#checkup-result dl")
    assert page.inner_text("#checkup-result h3") == "my network"
    assert page.locator("#checkup-result .large > div").count() == 3
    assert page.locator("#checkup-result svg.plot").count() == 2
    page.close()


def test_a_sample_is_examined_and_its_link_finds_it_again(real_server, page, browser):
    page.set_default_timeout(120_000)
    page.goto(f"{real_server.url}/#checkup")
    page.click("#checkup .examples a >> nth=0")
    page.wait_for_selector("#checkup-result dl")
    looked_at(page, "sample")
    said = page.inner_text("#checkup-result .sentence")
    assert "sample=fading" in page.url and "job=" in page.url
    other = browser.new_page()
    other.goto(page.url)
    other.wait_for_selector("#checkup-result dl")
    assert other.inner_text("#checkup-result .sentence") == said
    other.close()


def test_a_page_of_results_opens_from_disk_and_prints_whole(page, tmp_path):
    command = [sys.executable, str(SMALL), "reproduce", "memorization"]
    study = subprocess.run([*command, "--out", str(tmp_path)], capture_output=True, check=False)
    assert study.returncode == 0
    page.goto((tmp_path / "memorization" / "index.html").as_uri())
    assert page.locator("figure img").evaluate("picture => picture.naturalWidth") > 0
    evidence = page.locator("#claim-000\\.1 table.evidence")
    assert not evidence.is_visible()
    page.click("#claim-000\\.1 >> text=figure")
    assert page.url.endswith("#figure-orbit")
    looked_at(page, "study")
    page.emulate_media(media="print")
    assert evidence.is_visible()  # what is folded on screen is not missing on paper
    cut = "[...document.querySelectorAll('main *')].filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX != 'visible').length"
    assert page.evaluate(cut) == 0
    page.emulate_media(media="screen")
    page.click("header a")
    page.wait_for_selector("text=The studies")
    looked_at(page, "index")
    page.emulate_media(media="print")
    assert page.locator("text=certified rate").first.is_visible()
    assert page.evaluate(cut) == 0
