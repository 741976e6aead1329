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
