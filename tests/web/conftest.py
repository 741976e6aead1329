import sys

import pytest


pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
import small_study
from lab_server import Server, SMALL


@pytest.fixture(scope="module", autouse=True)
def small_studies():
    """The server judges stored results again: by the small studies, as they are made."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("remanence.subjects.study", small_study.study)
        yield


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The lab, its studies replaced by small ones."""
    running = Server(tmp_path_factory.mktemp("lab"), [sys.executable, str(SMALL)])
    yield running
    running.stop()


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A lab whose jobs end at once."""
    quick = [sys.executable, "-c", "print('{}')"]
    running = Server(tmp_path_factory.mktemp("lab"), quick)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def browser():
    """Asked for by modules that import `in_browser`, which skips where there is none."""
    from in_browser import CHROMIUM, playwright, QUIETLY

    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=QUIETLY)
        yield chromium
        chromium.close()


@pytest.fixture(params=[(1200, "light"), (390, "dark")], ids=["desk", "phone"])
def page(request, browser):
    """A fresh page that complains about every error in its console."""
    from in_browser import PATIENCE

    width, scheme = request.param
    tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab.set_default_timeout(PATIENCE)
    wrong = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("dialog", lambda dialog: wrong.append("a script ran"))
    tab.wrong = wrong
    yield tab
    assert wrong == []
    width = tab.viewport_size["width"]
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.close()
