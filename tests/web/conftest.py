import sys

import pytest


pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
from lab_server import Server, SMALL


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
