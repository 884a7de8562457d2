"""What all benchmarks share: turns, results in files, documents in two places."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from bench.measuring.figures import headed_figure, panel_grid, save_figures
from bench.measuring.result_files import write_both
from bench.measuring.timing import in_turn, timed_on_the_clock


def test_everyone_is_first_as_often() -> None:
    turns = [in_turn("abc", number) for number in range(6)]
    assert all(sorted(turn) == ["a", "b", "c"] for turn in turns)
    assert [turn[0] for turn in turns] == ["a", "b", "c", "a", "b", "c"]
    assert in_turn([], 3) == []


def test_a_time_on_the_clock_comes_with_the_result() -> None:
    seconds, result = timed_on_the_clock(lambda: "done")
    assert (seconds >= 0, result) == (True, "done")


def test_a_figure_without_anything_to_draw_is_left_out(tmp_path: Path) -> None:
    def nothing() -> Figure | None:
        return None

    figures = [("none", nothing), ("some", lambda: headed_figure("Title", 2))]
    written = save_figures(figures, tmp_path / "new", suffixes=["svg", "png"])
    assert written == [tmp_path / "new" / "some.svg", tmp_path / "new" / "some.png"]
    assert sorted((tmp_path / "new").iterdir()) == sorted(written)
    assert "Title" in written[0].read_text(encoding="utf-8")


def test_a_grid_shows_as_many_panels_as_there_are() -> None:
    figure, grid = panel_grid("Title", 3)
    assert len(grid) == 3
    assert [axes.get_visible() for axes in figure.axes] == [True, True, True, False]


def test_pages_get_what_they_show(tmp_path: Path) -> None:
    def write(folder: Path, *, suffixes: Sequence[str]) -> list[Path]:
        folder.mkdir(exist_ok=True)
        written = [folder / f"a.{suffix}" for suffix in (*suffixes, "md")]
        for path in written:
            path.write_text(path.suffix, encoding="utf-8")
        return written

    out, docs = tmp_path / "out", tmp_path / "docs"
    here = [out / "a.svg", out / "a.png", out / "a.md"]
    shown = [docs / "measured" / "a.svg", docs / "measured" / "a.md"]
    assert write_both(write, out, None) == here
    assert write_both(write, out, docs) == [*here, *shown]
    assert [path.read_text(encoding="utf-8") for path in shown] == [".svg", ".md"]
