"""Who compiles when, and what becomes of matching meanwhile. Each test has processes of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from predicast.matching.columnar import warming_up
from predicast.matching.columnar.compiling_process import LOCK
from tests.thorough import LONG

# Whatever is subscribed and comes, brute force says whether the answers are right.
ANSWERS = """
from predicast import Engine, Interval
from predicast.matching.columnar import loops, warming_up

def check():
    for absent in ("fails", "passes"):
        ours, right = Engine(absent=absent), Engine(absent=absent, matcher="brute-force")
        for engine in (ours, right):
            engine.subscribe_many(
                (str(n), f"k = {n % 7} AND x > {n % 50} AND x < {n % 50 + 9}") for n in range(1500)
            )
            engine.subscribe("name LIKE 'a%b' OR contains(name, 'cd')", id="like")
            engine.subscribe("name = 'abc' AND y IN (1, 2, 3)", id="in")
            engine.subscribe("x > 3.5", id="bound")
        for event in (
            {"k": 1, "x": 20},
            {"k": Interval(1, 3), "x": Interval(0, 9)},
            {"name": "aab"},
            {"name": "abc", "y": 2, "k": 3},
        ):
            assert ours.match(event) == right.match(event), event
            assert ours.match_batch([event] * 3) == right.match_batch([event] * 3), event
"""
HANGING = """
import os, time
parent = os.getppid()
while os.getppid() == parent:
    time.sleep(0.02)
"""

# At which something else comes in between.
MOMENTS = [0, 0.02, 0.1, 0.3] if LONG else [0, 0.1]


def start(code: str, cache: Path | None = None) -> subprocess.Popen[str]:
    environment = dict(os.environ)
    environment.pop("NUMBA_DISABLE_JIT", None)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", ANSWERS + code],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> str:
    """What it printed; nothing may have gone wrong."""
    out, error = process.communicate()
    assert (process.returncode, error) == (0, "")
    return out.strip()


def test_importing_the_matcher_does_not_import_the_compiler() -> None:
    code = "import sys, predicast.matching.columnar; print('numba' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


@pytest.mark.skipif(os.name != "posix", reason="asks for the parent")
def test_while_others_compile_the_plain_loops_answer(tmp_path: Path) -> None:
    process = start(
        f"warming_up._CHILD = {HANGING!r}\ncheck()\nprint(loops.now is loops.PLAIN)", tmp_path
    )
    assert said(process) == "True"


@pytest.mark.skipif(os.name != "posix", reason="of signals")
def test_what_cannot_be_compiled_is_given_up(tmp_path: Path) -> None:
    code = """
import logging
from predicast.errors import NotCompiledError
warnings = []
class Kept(logging.Handler):
    def emit(self, record):
        warnings.append(record.getMessage())
logging.getLogger("predicast").addHandler(Kept())
warming_up._CHILD = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
try:
    Engine().warm_up()
except NotCompiledError as error:
    assert "was killed (9)" in str(error), error
else:
    raise AssertionError
check()
assert loops.now is loops.PLAIN
print(len(warnings))
"""
    assert said(start(code, tmp_path)) == "1"


FOUND = """
check()
Engine().warm_up()
assert loops.now is not loops.PLAIN
check()
from predicast.matching.columnar.kernels import entries
print(entries.KERNELS.compiled_here())
"""


IN_A_THREAD = "warming_up._can_start_python = lambda: False\n" + FOUND


def lacking_one(cache: Path, name: str) -> None:
    """Fill a cache with what the tests run on, but one kernel: to compile all takes a minute."""
    print_directory = """
from predicast.matching.columnar.kernels import entries
print(entries.KERNELS.cache_directory())
"""
    warming_up.wait()
    ours = Path(said(start(print_directory)))
    theirs = Path(said(start(print_directory, cache)))
    theirs.mkdir(parents=True, exist_ok=True)
    for path in ours.glob("*.nb[ic]"):
        if f".{name}-" not in path.name:
            shutil.copy2(path, theirs)


def test_what_is_missing_is_compiled_once(tmp_path: Path) -> None:
    lacking_one(tmp_path, "keep_live")
    for process in [start(FOUND, tmp_path), start(FOUND, tmp_path)]:  # they start together
        said(process)
    [lock] = tmp_path.rglob(LOCK)
    [line] = lock.read_text(encoding="utf-8").splitlines()
    assert line.endswith(" compiled keep_live")
    assert said(start(FOUND, tmp_path)) == "[]"  # who comes after finds it
    [kept] = tmp_path.rglob("*.keep_live-*.nbi")
    kept.unlink()
    assert said(start(IN_A_THREAD, tmp_path)) == "['keep_live']"  # where no process can be started


@pytest.mark.skipif(os.name != "posix", reason="asks for the parent")
@pytest.mark.parametrize(("compiled", "lacking"), [("nothing", "find_tests"), ("all", "keep_live")])
def test_each_loop_is_in_use_as_soon_as_it_is_there(
    tmp_path: Path, compiled: str, lacking: str
) -> None:
    """Whatever stands in its turn before the one that is lacking; and that one once it is told."""
    lacking_one(tmp_path, lacking)
    before = "''" if compiled == "nothing" else "warming_up._CHILD"
    code = f"""
warming_up._CHILD = {before} + {HANGING!r}
last = "code_texts" if {compiled == "nothing"} else "find_tests"
check()
while getattr(loops.now, last) is getattr(loops.PLAIN, last):
    check()
check()
print(loops.now.{lacking} is loops.PLAIN.{lacking}, loops.now.are_all_compiled)
"""
    assert said(start(code, tmp_path)) == f"{compiled == 'nothing'} False"


@pytest.mark.parametrize("hindrance", ["sys.executable = ''", "sys.frozen = True"])
def test_an_application_that_contains_python_is_none_to_start(hindrance: str) -> None:
    code = f"import sys\n{hindrance}\nprint(warming_up._can_start_python())"
    assert said(start(code)) == "False"


def test_switched_off_the_plain_loops_stay() -> None:
    code = """
import os
os.environ["NUMBA_DISABLE_JIT"] = "1"
Engine().warm_up()
check()
print(loops.now is loops.PLAIN)
"""
    assert said(start(code)) == "True"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="of forks")
@pytest.mark.parametrize("after_s", MOMENTS)
def test_a_fork_in_the_middle_begins_anew(after_s: float) -> None:
    code = f"""
import os, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
engine = Engine()
engine.subscribe("x > 3", id="a")
time.sleep({after_s})
child = os.fork()
assert engine.match({{"x": 4}}) == ["a"]
engine.warm_up()
assert loops.now is not loops.PLAIN
check()
if child:
    print(os.waitpid(child, 0)[1])
else:
    os._exit(0)
"""
    assert said(start(code)) == "0"


@pytest.mark.parametrize("after_s", MOMENTS)
def test_the_end_in_the_middle_is_quiet(after_s: float) -> None:
    assert said(start(f"import time\nEngine()\ntime.sleep({after_s})\nprint('over')")) == "over"
