"""The program as a process of its own: terminals, pipes, signals, encodings."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from predicast.__about__ import __version__
from tests.unit.cli.terminals import on_a_terminal

PROGRAM = [sys.executable, "-m", "predicast"]


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    (folder / "s.jsonl").write_text('{"id": "a", "expression": "x < 5"}\n', encoding="utf-8")
    (folder / "e.jsonl").write_text('{"x": 1}\n{"x": 9}\n', encoding="utf-8")


def start(*arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*PROGRAM, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | environment,
    )


def finish(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    out, err = process.communicate()
    return process.returncode, out.decode(), err.decode()


def test_the_version() -> None:
    assert finish(start("--version")) == (0, f"predicast {__version__}\n", "")


def test_the_installed_script_is_the_same_program() -> None:
    script = Path(sys.executable).with_name("predicast")
    if not script.exists():
        pytest.skip("not installed")
    run = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert run.stdout == f"predicast {__version__}\n"


def test_help_lists_the_commands() -> None:
    code, out, _ = finish(start("--help"))
    assert code == 0
    for command in ("match", "explain", "doctor", "demo"):
        assert command in out


def test_warming_up_finds_or_makes_what_is_compiled() -> None:
    code, out, err = finish(start("warm-up"))
    assert (code, err) == (0, "")
    assert re.fullmatch(r"Matching is compiled \(\d+\.\d s\)\.\n", out)


def test_starting_up_imports_nothing_heavy() -> None:
    heavy = ("numpy", "pandas", "pyarrow", "pyspark", "rich", "sqlglot")
    script = f"import sys, predicast.cli; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_matches_come_while_events_are_still_being_written() -> None:
    process = start("match", "s.jsonl", "-")
    assert process.stdin is not None
    assert process.stdout is not None
    for number in range(3):
        process.stdin.write(b'{"x": 1}\n')
        process.stdin.flush()
        line = process.stdout.readline()  # would hang if it waited for the rest
        assert line == b'{"event":%d,"subscriptions":["a"]}\n' % number
    assert finish(process) == (0, "", "")


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_interrupt_ends_it_with_130_and_leaves_nothing_behind(folder: Path, form: str) -> None:
    arguments = ["match", "s.jsonl", "-", "--events-format", form, "--output", "out.jsonl"]
    process = start(*arguments, TMPDIR=str(folder))
    assert process.stdin is not None
    process.stdin.write(b'{"x": 1}\n')
    process.stdin.flush()
    while not list(folder.glob(".out.jsonl.*")):  # until it is at work
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert finish(process) == (130, "", "Error: interrupted\n")
    assert sorted(path.name for path in folder.iterdir()) == ["e.jsonl", "s.jsonl"]


# Every way of writing, buffered and not.
@pytest.mark.parametrize(
    ("events", "form", "count", "unbuffered"),
    [
        ("e.jsonl", "jsonl", 10_000, ""),
        ("e.csv", "jsonl", 10_000, "1"),
        ("e.jsonl", "table", 4_000, ""),
        ("e.jsonl", "table", 4_000, "1"),
    ],
)
def test_a_closed_pipe_ends_it_without_a_word(
    folder: Path, events: str, form: str, count: int, unbuffered: str
) -> None:
    lines = ['{"x": 1}\n'] * count if events == "e.jsonl" else ["x\n", *["1\n"] * count]
    (folder / events).write_text(
        "".join(lines), encoding="utf-8"
    )  # results are more than a pipe holds
    arguments = ["match", "s.jsonl", events, "--format", form, "--limit", str(count)]
    process = start(*arguments, PYTHONUNBUFFERED=unbuffered)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141
    process.stderr.close()
    assert process.stdin is not None
    process.stdin.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_an_error_with_a_message() -> None:
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(
            [*PROGRAM, "match", "s.jsonl", "e.jsonl"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert run.returncode == 2
    assert run.stderr == b"Error: [Errno 28] No space left on device\n"


def test_standard_input_may_be_closed() -> None:
    for arguments in (["match", "s.jsonl", "-"], ["explain", "s.jsonl", "a", "-"]):
        script = f'exec "$0" -m predicast {" ".join(arguments)} <&-'
        run = subprocess.run(["sh", "-c", script, sys.executable], capture_output=True, check=False)
        assert (run.returncode, run.stderr) == (2, b"Error: standard input: closed\n")


def test_any_encoding_will_do() -> None:
    process = start("explain", "s.jsonl", "a", '{"x": 9, "y": "é"}', PYTHONIOENCODING="ascii")
    code, out, err = finish(process)
    assert (code, err) == (1, "")
    assert "\\u2717" in out
    process = start("explain", "s.jsonl", "a", '{"x": "é"}', PYTHONIOENCODING="ascii")
    assert "'\\xe9'" in finish(process)[1]


def test_a_terminal_gets_a_table() -> None:
    code, shown = on_a_terminal([*PROGRAM, "match", "s.jsonl", "e.jsonl"])
    assert code == 0
    assert "matching subscriptions" in shown
    assert "2 events, 1 of them matched, 1 match." in shown
    assert "\x1b" not in shown
    code, shown = on_a_terminal([*PROGRAM, "match", "s.jsonl", "e.jsonl", "-o", "out.parquet"])
    assert shown == "2 events, 1 of them matched, 1 match, written to out.parquet.\n"
    limited = [*PROGRAM, "match", "s.jsonl", "e.jsonl", "-o", "out.csv", "--limit", "1"]
    assert on_a_terminal(limited)[1] == "The first 1 event, 1 match, written to out.csv.\n"


def test_a_terminal_that_can_shows_progress() -> None:
    code, shown = on_a_terminal(
        [*PROGRAM, "match", "s.jsonl", "e.jsonl", "-o", "out.jsonl"], term="xterm"
    )
    assert code == 0
    assert "Matching events" in shown
    code, shown = on_a_terminal(
        [*PROGRAM, "match", "s.jsonl", "e.jsonl", "-f", "jsonl"], term="xterm"
    )
    assert "Matching events" not in shown
    assert '{"event":0,"subscriptions":["a"]}\n' in shown
