"""The program of the page on many machines runs."""

from pathlib import Path

from tests.nats_servers import NatsServer

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "many-machines.md"


def test_the_program_of_the_page_runs(server: NatsServer) -> None:
    text = PAGE.read_text(encoding="utf-8")
    program = text.partition("```python\n")[2].partition("```")[0]
    assert "nats://127.0.0.1:4222" in program
    exec(program.replace("nats://127.0.0.1:4222", server.url), {})
