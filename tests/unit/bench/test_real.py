"""``python -m bench real``: events like those given, rivals, and a tiny run from end to end."""

from __future__ import annotations

import random
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.__main__ import app
from bench.matchers.rival import LeftOutError
from bench.measuring.machine import this_machine
from bench.measuring.memory import peak_bytes, resident_bytes
from bench.measuring.sizes import Size
from bench.real import corpus, rsigma, run, selective
from bench.real.corpus import Corpus, Firing, MissingCorpusError, Rule, read_corpus
from bench.real.detecting import OURS, Detecting, measure_detecting
from bench.real.dialects import WORKLOADS, Spoken
from bench.real.events import event_table, like
from bench.real.loading import adapted, probe
from bench.real.report import report_tables
from bench.real.results import LoadingResult, Rate, RealReport, SelectiveResult, SigmaResult
from bench.real.selective import ALIKE, FAMILIES, Selective, measure_selective
from bench.real.where_text import expression_text
from predicast import Engine, attr
from predicast.language import to_subscription
from predicast.language.sigma.dialect import KEYWORDS

EVENT = {
    "Image": "C:\\Users\\xodih\\Downloads\\tool.exe",
    "CommandLine": "tool.exe 4711 --user xodih --again 4711",
    "User": "host\\xodih",
    "ProcessId": 4,
    "EventID": 1,
    "ProcessGuid": "0197231E-6808-693A-0413-000000000800",
    "Hashes": "MD5=DBB2D090D2098B2B995FA067FDEF839F,IMPHASH=213443B550A6683661EB0CF00CF04681",
    "UtcTime": "2025-12-11 06:43:20.052",
    "LogonId": "0x317fb",
}
ID = "8b3c1f0e-4a57-4c6e-9d28-5e0f7a91b2c3"
RULE = Rule(
    id=ID,
    title="Tool",
    author="somebody",
    logsource={"product": "windows"},
    detection={"s": {"Image|endswith": "\\tool.exe"}, "condition": "s"},
)
TINY = Corpus([RULE], [Firing(ID, EVENT)])


# The corpus.


def test_a_corpus_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(corpus.VARIABLE, str(tmp_path))
    with pytest.raises(MissingCorpusError, match=corpus.VARIABLE):
        read_corpus()
    result = CliRunner().invoke(app, ["real", "sigma", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "sigma is neither in shared/cases" in " ".join(result.output.split())


def test_events_happen_again_elsewhere() -> None:
    events = like([EVENT], 200)
    assert events == like([EVENT], 200)
    assert events != like([EVENT], 200, seed=1)
    assert len({str(event) for event in events}) == 200
    for event in events:
        assert event["EventID"] == 1
        assert event["Image"].startswith("C:\\Users\\user")
        assert event["Image"].endswith("\\tool.exe")
        words = event["CommandLine"].split()
        assert words[1] == words[-1]
        assert len(words[1]) >= 3
        assert event["User"].partition("\\")[2] == words[3]
        assert event["Hashes"].endswith(EVENT["Hashes"][-40:])  # type: ignore[index]
        assert event["Image"] in event[KEYWORDS].splitlines()


def test_a_table_has_strings_where_an_attribute_is_not_always_an_integer() -> None:
    table = event_table([{"a": 1, "b": 2}, {"a": "0x1"}])
    assert table.to_pydict() == {"a": ["1", "0x1"], "b": [2, None]}


def test_an_expression_is_written_as_text_that_says_the_same() -> None:
    built = (attr("x") > 1) & ~(attr("y").is_absent() | (attr("y") == "a") & attr("z").isin([1]))
    assert to_subscription(expression_text(built)) == to_subscription(built)


def test_an_adapted_rule_differs_in_one_string() -> None:
    rule = (attr("x") == "a") & ~(attr("y").contains("b") | (attr("z") > 1))
    made = {expression_text(adapted(rule, random.Random(seed))) for seed in range(20)}
    assert all(("x = 'a'" in text) != ("contains(y, 'b')" in text) for text in made)
    assert len(made) > 10
    assert adapted(attr("z") > 1, random.Random(0)) == (attr("z") > 1)


# The rival.


def test_rsigma_says_why_it_is_left_out(tmp_path: Path) -> None:
    with pytest.raises(LeftOutError, match="no no-such-cargo here"):
        rsigma.built(tmp_path, "no-such-cargo")
    cargo = tmp_path / "cargo"
    cargo.write_text("#!/bin/sh\necho 'error: no way' >&2\nexit 1\n", encoding="utf-8")
    cargo.chmod(cargo.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(LeftOutError, match=r"cannot be built: .*no way"):
        rsigma.built(tmp_path, str(cargo))


def rival_that_answers(tmp_path: Path, *answers: str) -> rsigma.Rsigma:
    """As if it had been built: a program that says so much and no more."""
    says = "".join("exit\n" if a == "exit" else f"echo '{a}'\n" for a in answers)
    cargo = tmp_path / "cargo"
    cargo.write_text(
        "#!/bin/sh\nmkdir -p target/release\n"
        f'printf "%s" "#!/bin/sh\n{says}cat >/dev/null\n" >target/release/rsigma-rival\n'
        "chmod +x target/release/rsigma-rival\n",
        encoding="utf-8",
    )
    cargo.chmod(cargo.stat().st_mode | stat.S_IXUSR)
    return rsigma.Rsigma([RULE], [EVENT], cargo=str(cargo), caches=tmp_path)


LOADED = '{\\"rules\\": 1, \\"refused\\": [], \\"unread\\": [], \\"loaded_s\\": 0.5}'


def test_rsigma_is_asked_round_by_round(tmp_path: Path) -> None:
    with rival_that_answers(tmp_path, LOADED, "0.25", f'[[\\"{ID}\\"]]') as rival:
        assert rival.load_s == 0.5
        assert rival.seconds() == 0.25
        assert rival.pairs() == {(0, ID)}


def test_rsigma_is_left_out_if_it_refuses_rules(tmp_path: Path) -> None:
    refusing = LOADED.replace("[]", f'[[\\"{ID}\\", \\"odd\\"]]', 1)
    with pytest.raises(LeftOutError, match="odd"):
        rival_that_answers(tmp_path, refusing)


def test_rsigma_is_left_out_if_it_ends(tmp_path: Path) -> None:
    with pytest.raises(LeftOutError, match="without an answer"):
        rival_that_answers(tmp_path, "exit")


# The parts.


def test_rules_and_events_are_measured_and_compared() -> None:
    effort = Detecting(batches=(5, 20), singles=7, rounds=2, with_rsigma=False)
    steps: list[str] = []
    result = measure_detecting(TINY, effort, seed=0, progress=steps.append)
    assert (result.rules, result.events, result.matches) == (1, 200, 200)
    assert {(each.rival, each.batch) for each in result.rates} == {(OURS, n) for n in (1, 5, 20)}
    assert all(each.events_per_s > 0 for each in result.rates)
    assert result.wrong == []
    assert len(steps) == effort.steps() - 1  # rsigma is none of them


@pytest.mark.parametrize("made_of", FAMILIES)
def test_selective_rules_match_by_tens_or_not_at_all(made_of: str) -> None:
    engine = Engine()
    engine.subscribe_many(
        (f"s{number}", FAMILIES[made_of](number // ALIKE)) for number in range(400)
    )
    chance = random.Random(0)
    for group in range(400 // ALIKE):
        event = selective._event(chance, group, matches=True)
        assert sorted(engine.match(event)) == sorted(f"s{10 * group + n}" for n in range(ALIKE))
        assert engine.match(selective._event(chance, group, matches=False)) == []


def test_selective_rules_are_measured() -> None:
    effort = Selective(rules=(100,), batch=30, singles=5, rounds=1)
    (*families,) = measure_selective(effort, seed=0, progress=lambda _: None)
    assert [len(results) for results in families] == [2] * len(FAMILIES)
    assert not any(each.wrong for results in families for each in results)


@pytest.mark.parametrize("given_as", ["objects", "text"])
def test_loading_is_measured(given_as: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.real.loading.read_corpus", lambda: TINY)
    result = probe(30, given_as, seed=0)
    assert result.subscriptions == 30
    assert result.load_s > 0
    assert result.peak_bytes > 0


def test_memory_is_that_of_this_process() -> None:
    assert 0 < resident_bytes() <= peak_bytes()


# The report.


REPORT = RealReport(
    machine=this_machine(),
    seed=0,
    batch=2_000,
    sigma=SigmaResult(
        rules=10, events=100, fields=20.0, matches=50,
        rates=[Rate(OURS, 1, 9_000.0), Rate(OURS, 500, 50_000.0), Rate(OURS, 2_000, 66_000.0),
               Rate(rsigma.NAME, 1, 20_000.0)],
        wrong=["one by one differs"], left_out={},
    ),
    selective=[SelectiveResult("equalities", 100_000, 10, 1.5, 10.0)],
    loading=[LoadingResult("text", 2_500, 1.0, 2.0, 1 << 20, 2 << 20)],
)  # fmt: skip


def test_the_report_judges_goals_and_tells_what_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    REPORT.write(tmp_path / "real.json")
    result = CliRunner().invoke(app, ["real", "--again", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "WRONG: one by one differs" in result.output
    flat = " ".join(result.output.replace("│", " ").split())
    assert "66,000 in batches of 2,000: goal reached" in flat
    assert "3.3 times rsigma-eval 0.23.0: goal reached" in flat
    assert "1.50 > 1" in flat
    assert (tmp_path / "real.svg").exists()
    assert len(report_tables(REPORT)) == 3


def test_a_tiny_run_measures_and_writes_everything(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tiny = run.Effort(
        Detecting(batches=(5,), singles=5, rounds=1, with_rsigma=False),
        Selective(rules=(100,), batch=20, singles=5, rounds=1),
        ((3, "text"),),
        Spoken(subscriptions=100, events=20, singles=5, rounds=1),
    )
    monkeypatch.setitem(run.EFFORT, Size.SMALL, tiny)
    monkeypatch.setattr(run, "read_corpus", lambda: TINY)
    monkeypatch.setattr(run, "measure_loading", lambda count, given_as, seed: REPORT.loading[0])
    result = CliRunner().invoke(app, ["real", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    written = RealReport.read(tmp_path / "real.json")
    assert written.sigma is not None
    assert written.sigma.matches == 50
    assert len(written.selective) == 2 * len(FAMILIES)
    assert written.loading == REPORT.loading
    assert [each.dialect for each in written.dialects] == list(WORKLOADS)
    assert all(each.matches for each in written.dialects)
    assert (tmp_path / "real.png").exists()
