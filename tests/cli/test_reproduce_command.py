"""Studies run by the command: all, one, again, interrupted, in a limited time."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import threading
import time
import weakref

import pytest
from command import environment, SMALL

from remanence._stop import check_stop, request_stop, stop_on_signals
from remanence.subjects import STUDIES


def test_one_failing_study_does_not_lose_the_others(everything):
    out, run = everything
    assert run.returncode == 1
    answer = json.loads(run.stdout)
    assert answer["failed"] == {"fading-memory": "ZeroDivisionError: by zero"}
    others = [name for name in STUDIES if name != "fading-memory"]
    assert [s["study"] for s in answer["studies"]] == others
    assert "about a second" in run.stderr  # the cost, said beforehand
    front = (out / "index.html").read_text()
    assert "The last run failed: ZeroDivisionError: by zero" in front


def test_the_files_are_exactly_those_that_are_promised(everything):
    out, _ = everything
    assert sorted(p.name for p in (out / "memorization").iterdir()) == [
        "claims.json",
        "data.zarr",
        "figures",
        "index.html",
        "provenance.json",
    ]
    claims = json.loads((out / "memorization" / "claims.json").read_text())
    assert [c["verdict"] for c in claims["claims"]] == ["holds", "holds", "refuted", "open"]
    text = (out / "memorization" / "claims.json").read_text()
    assert str(out) not in text and "20" + "26" not in text


def test_the_same_run_gives_the_same_bytes(everything, tmp_path, remanence):
    out, _ = everything
    run = remanence("reproduce", "memorization", "--out", tmp_path / "twice", "--quiet")
    assert run.returncode == 0 and run.stderr == ""
    for name in ("claims.json", "figures/orbit.svg", "figures/orbit.csv"):
        first, second = (root / "memorization" / name for root in (out, tmp_path / "twice"))
        assert first.read_bytes() == second.read_bytes()


def test_what_is_there_is_read_back_and_what_is_damaged_is_made_again(results, remanence):
    out = results
    remanence("reproduce", "modular-addition", "--out", out)
    run = remanence("reproduce", "modular-addition", "--out", out)
    assert "read back" in run.stderr and run.returncode == 0
    claims = out / "modular-addition" / "claims.json"
    whole = claims.read_bytes()
    claims.write_bytes(whole[:100])
    shown = remanence("show", "modular-addition", "--out", out)
    assert shown.returncode == 2 and "claims.json is damaged" in shown.stderr
    run = remanence("reproduce", "modular-addition", "--out", out)
    assert run.returncode == 0 and "claims.json is damaged" in run.stderr
    assert "computed again" in run.stderr and claims.read_bytes() == whole
    assert (
        remanence("reproduce", "modular-addition", "--out", out, "--seed", 1).stderr.count(
            "read back"
        )
        == 0
    )


def test_one_cell_is_one_document(tmp_path, remanence):
    run = remanence("reproduce", "memorization", "--cell", "word=ab", "--quiet")
    assert (run.returncode, json.loads(run.stdout)) == (0, {"value": 0.333333, "word": "ab"})
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_says_what_was_saved_and_the_run_goes_on(tmp_path):
    out = tmp_path / "results"
    process = subprocess.Popen(
        [
            # Deaf to interrupts, as a script's `command &` is started.
            *("sh", "-c", 'trap "" INT; exec "$0" "$@"', sys.executable, str(SMALL)),
            *("reproduce", "all", "--out", str(out), "--json"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(fading_memory={"wait": 600.0}),
    )
    part = out / ".parts" / "fading-memory"
    others = [name for name in STUDIES if name != "fading-memory"]
    watchdog = threading.Timer(300, process.kill)
    watchdog.start()
    assert process.stderr is not None
    heard, waiting = "", set(others)
    while waiting and (line := process.stderr.readline()):
        heard += line
        waiting -= {name for name in waiting if re.match(rf"{name} \d+ s: done", line)}
    while not list(part.rglob("part.txt")) and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate()  # the watchdog is still there
    watchdog.cancel()
    stderr = heard + stderr
    assert process.returncode == 130, stderr
    assert f"saved: {', '.join(others)}; fading-memory keeps 1 file" in stderr
    assert "Traceback" not in stderr
    assert [s["study"] for s in json.loads(stdout)["studies"]] == others
    assert list(part.rglob("part.txt"))


def test_side_by_side_ends_in_one_screen_in_the_order_of_the_documents(results):
    run = subprocess.run(
        [sys.executable, str(SMALL), "reproduce", "all", "--out", str(results)],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("read back") == len(STUDIES) - 1  # only the one that failed is run
    lines = run.stdout.splitlines()
    assert len(lines) < 24, "one screen"
    assert [line.split()[0] for line in lines[: len(STUDIES) + 1]] == [*STUDIES, "all"]
    count = len(STUDIES)
    assert f"{2 * count} holds" in lines[count] and f" {count} refuted" in lines[count]
    assert all("Two dimensions serve every string." in line for line in lines[count + 1 :])
    assert re.search(r"fading-memory \d+ s: done", run.stderr)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_inside_a_weak_reference_callback_is_not_lost(number):
    class Thing:
        pass

    thing, called = Thing(), []

    def gone(reference):  # an exception in here is ignored by Python
        os.kill(os.getpid(), number)
        called.append(time.sleep(0))

    kept = weakref.ref(thing, gone)
    with stop_on_signals(None):
        del thing
        assert called and kept() is None
        with pytest.raises(KeyboardInterrupt):
            check_stop()
        request_stop(None)


def test_a_time_limit_stops_the_run(tmp_path, remanence, monkeypatch):
    monkeypatch.setattr("remanence._stop.PATIENCE", 0.5)
    begun = time.monotonic()
    run = remanence(
        "reproduce",
        "memorization",
        "--out",
        tmp_path / "r",
        "--time-limit",
        "1s",
        memorization={"wait": 60.0},
    )
    assert run.returncode == 130 and "time is up" in run.stderr
    assert time.monotonic() - begun < 60


def test_a_sweep_that_is_out_of_time_is_no_bug(tmp_path, remanence):
    run = remanence(
        "reproduce", "memorization", "--out", tmp_path, memorization={"fail": "unfinished"}
    )
    assert run.returncode == 130 and "Traceback" not in run.stderr
    assert "3 of 8 lanes are stored in" in run.stderr


def test_on_a_terminal_each_study_has_one_line_that_is_rewritten(results):
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, 80))
    process = subprocess.Popen(
        # All but one are read back: six fresh runs would show the same lines.
        [sys.executable, str(SMALL), "reproduce", "all", "--out", str(results)],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=environment() | {"TERM": "xterm"},
    )
    os.close(theirs)
    written = b""
    with contextlib.suppress(OSError):  # a terminal whose other end is closed
        while chunk := os.read(ours, 65536):
            written += chunk
    os.close(ours)
    assert process.wait() == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-ln-zA-Z]", "\f", written.decode())  # moves of the cursor
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)  # colours
    assert "\f" in text, "nothing was rewritten"
    *_, last = (frame for frame in text.split("\f") if "memorization" in frame)
    lines = [line for line in text[text.rindex(last) :].splitlines() if line.strip("\f ")]
    shown = [line.split()[0].strip("\f") for line in lines[: len(STUDIES)]]
    assert sorted(shown) == sorted(STUDIES)
    ended = [re.search("done|read back", line) for line in lines[: len(STUDIES)]]
    assert [found and found[0] for found in ended].count("read back") == len(STUDIES) - 1
    assert all(ended)
