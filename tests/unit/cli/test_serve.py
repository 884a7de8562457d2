"""``predicast serve`` and ``predicast token``, as far as nothing has to listen."""

import socket
import stat
from pathlib import Path

from typer.testing import CliRunner

from predicast.broker.access import TokenFile
from predicast.cli import app


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2, result.output
    return result.stderr


def test_what_cannot_be_served_is_refused(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data"))
    said = refused("serve", "--host", "0.0.0.0", *data)
    assert f"predicast token add me --scope admin --data {tmp_path / 'data'}\n" in said
    files = ("--tls-cert", "nothing.pem", "--tls-key", "nothing.key")
    assert "no file nothing.pem" in refused("serve", *files, *data)
    assert "--tls-key" in refused("serve", "--tls-cert", "nothing.pem", *data)
    assert "such as 12h or 7d" in refused("serve", "--retention", "soon", *data)
    assert "a broker's address is such as" in refused("serve", "--parent", "ftp://x", *data)
    junk = tmp_path / "junk.pem"
    junk.write_text("junk", encoding="utf-8")
    files = ("--tls-cert", str(junk), "--tls-key", str(junk))
    assert "not a certificate and its key" in refused("serve", *files, *data)


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        data = tmp_path / "data"
        said = refused("serve", "--no-console", "--port", port, "--data", str(data))
    assert "say another one by --host or --port" in said
    assert stat.S_IMODE(data.stat().st_mode) == 0o700  # what is kept there is nobody else's


def test_tokens_are_made_listed_and_removed(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data"))
    run = CliRunner().invoke
    made = run(app, ["token", "add", "ann", "--scope", "publish", "--tenant", "acme", *data])
    file = TokenFile(tmp_path / "data" / "tokens.json")
    grant = file.find(made.stdout.strip())
    assert grant is not None
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    assert (grant.name, grant.tenant, grant.scopes) == ("ann", "acme", frozenset({"publish"}))
    assert "there is a token 'ann' already" in refused("token", "add", "ann", *data)
    listed = run(app, ["token", "list", *data]).stdout
    assert "ann" in listed
    assert "acme" in listed
    assert made.stdout.strip() not in listed
    assert run(app, ["token", "remove", "ann", *data]).exit_code == 0
    assert "there is no token 'ann'" in refused("token", "remove", "ann", *data)
