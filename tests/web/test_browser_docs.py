"""The two tabs of the lab that the documentation's home page shows: they ask no server."""

import functools
import http.server
import importlib.util
import pathlib
import threading

import pytest
from in_browser import dragged, says


HOOK = pathlib.Path(__file__).parents[2] / "docs" / "static_lab.py"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """What mkdocs writes, served as plain files."""
    folder = tmp_path_factory.mktemp("site")
    spec = importlib.util.spec_from_file_location("static_lab", HOOK)
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    hook.on_post_build({"site_dir": str(folder)})

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words):
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/lab"
        server.shutdown()


def test_a_string_of_the_examples_is_there_and_another_is_refused(site, page):
    page.goto(f"{site}/memorize.html")
    says(page, "memorize-status", "networks that repeat “abracadabra”")
    page.click("#step")
    says(page, "score", "2 symbols, all right")
    page.click("text=one unit, unstable")
    says(page, "memorize-status", "networks that repeat “hello”")
    page.fill("#text", "another")
    says(page, "memorize-status", "remanence serve takes any")


def test_dynamics_follow_the_hand(site, page):
    page.goto(f"{site}/dynamics.html#dynamics?radius=0.5&coupling=0.1")
    says(page, "verdict", "gradients fade")
    dragged(page, "radius", 0.36, 0.99)
    says(page, "verdict", "runs away")
