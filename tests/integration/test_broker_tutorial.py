"""The tutorial of the broker does what it shows, command by command."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integration.brokers import serving

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial" / "broker.md"
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
# What is another one each time: ids that are made up, and times.
CHANCE = re.compile(r"(?<=\"id\":\")[0-9a-f]{32}|(?<=:)[0-9]{10}\.[0-9]+")


def curl_sends_json() -> bool:
    """Since version 7.82."""
    if shutil.which("curl") is None:
        return False
    return b"--json" in subprocess.check_output(["curl", "--help", "all"])


@pytest.mark.skipif(not curl_sends_json(), reason="no curl here knows --json")
def test_every_command_shows_what_is_printed_below_it(tmp_path: Path) -> None:
    blocks = CONSOLE.findall(PAGE.read_text(encoding="utf-8"))
    [(serve, _), *commands] = [parts for block in blocks for parts in COMMAND.findall(block)]
    assert serve == "predicast serve"
    assert len(commands) > 10
    with serving("--data", str(tmp_path / "data")) as (_, url):
        address = url.removeprefix("http://").replace("127.0.0.1", "localhost")
        for command, output in commands:
            here = command.replace("localhost:8642", address)
            assert here != command
            shown = subprocess.run(
                here, shell=True, capture_output=True, check=True, timeout=120
            ).stdout.decode()
            assert CHANCE.sub("…", shown).strip() == output.strip(), command
