"""The pattern index answers as the constraints themselves do."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from predicast.arrays import Words
from predicast.errors import InvalidConstraintError
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.typed_values import Strings
from predicast.matching.columnar import loops
from predicast.matching.columnar.batch_texts import batch_texts
from predicast.matching.columnar.layout.question import Counts, Question
from predicast.matching.columnar.patterns import pattern_index, regex_sets
from predicast.matching.columnar.patterns.index_arrays import LONGEST
from predicast.matching.columnar.patterns.pattern_index import EventRoom, Found, PatternIndex
from predicast.matching.columnar.patterns.required_literals import required_literals
from predicast.model import Constraint, Kind, LikePattern, Operator
from predicast.model.constraint import trusted_constraint
from predicast.testing import strategies as some
from tests.unit.matching.columnar.questions import blank_question

pytestmark = pytest.mark.usefixtures("both_loops")

LITERAL = [Operator.CONTAINS, Operator.PREFIX, Operator.SUFFIX, Operator.EQ]
# Few letters, so that needles overlap and repeat; of 1 to 4 bytes, with shared first bytes.
LETTERS = st.sampled_from("aab\0éèà日本\U0001f600\U0001f601%_.\n")
TEXT = st.text(LETTERS, max_size=12)
LONG = st.builds(lambda text, times: text * times, st.text(LETTERS, max_size=4), st.integers(0, 90))
LIKES = st.lists(
    st.sampled_from(["%", "%", "_", "a", "ab", "é", "日本", "\0", "!%", "!_", "!!"]) | LONG,
    max_size=6,
).map(lambda parts: LikePattern("".join(part.replace("!a", "a") for part in parts), "!"))
REGEXES = some.regexes() | st.sampled_from(
    [
        "^$",
        "^",
        "$",
        "\\bab\\b",
        "(?i)É日",
        "(?i)k",  # also the Kelvin sign
        "(?m)^b$",
        "(?s)a.b",
        "a.b",
        "aa|b+é",
        "(a|日)(b|本)",
        "a{2,3}b?",
        "\\x{1f600}",
        "[^a]日$",
        "\\x00",
        ".{3}",
        "^.{2,5}$",
        "ab|",
    ]
)


def contains(*needles: str) -> list[Constraint]:
    return [Constraint("a", Operator.CONTAINS, needle) for needle in needles]


def matches(*regexes: str) -> list[Constraint]:
    return [Constraint("a", Operator.MATCHES, regex) for regex in regexes]


def likes(*patterns: str) -> list[Constraint]:
    return [Constraint("a", Operator.LIKE, LikePattern(pattern, "!")) for pattern in patterns]


@st.composite
def patterns(draw: st.DrawFn) -> Constraint:
    operator = draw(st.sampled_from([*LITERAL, Operator.LIKE, Operator.MATCHES]))
    operand: Any
    if operator is Operator.LIKE:
        operand = draw(LIKES | some.like_patterns())
    elif operator is Operator.MATCHES:
        operand = draw(REGEXES)
    else:
        operand = draw(TEXT | LONG | some.strings())
    return Constraint("a", operator, operand)


def assert_agrees(constraints: Sequence[Constraint], words: Sequence[str]) -> PatternIndex:
    index = PatternIndex([*constraints, OTHER])
    if not constraints:  # nobody asks for an attribute without any
        return index
    room = index.room()
    for word, batched in zip(words, found(index, words), strict=True):
        held = {number for number, pattern in enumerate(constraints) if pattern.holds(word)}
        assert batched == held, repr(word)
        assert one_by_one(index, word, room) == held, repr(word)
    return index


OTHER = Constraint("b", Operator.CONTAINS, "a")  # which says nothing of the words of "a"


GIVEN = 12_345  # a test that holds whatever the strings are


def one_by_one(index: PatternIndex, word: str, room: EventRoom) -> set[int]:
    """What is found in the word of an event that has no other string."""
    raw = np.frombuffer(b"?" + word.encode(), np.uint8)
    spots = np.array([1, len(raw), *[-1] * (2 * len(index.attributes) - 2), len(raw)])
    question = Question(blank_question(0)._replace(**room._asdict(), spots=spots, raw=raw))
    question = question.give([GIVEN])
    while loops.now.match_event(question, -1)[0] < 0:
        question = question.with_room()
    arrays = question.arrays
    assert arrays.held[0] == 0
    given, *tests = arrays.tests[: arrays.held[1]].tolist()
    assert given == GIVEN
    doubts = {~test for test in tests if test < 0}
    asked = arrays.asked[: arrays.counts[Counts().asked]]
    found = Found(spots, raw, arrays.held, arrays.tests, asked)
    return {test for test in tests if test >= 0} | asked_about(index, found, 0, doubts)


def asked_about(index: PatternIndex, found: Found, word: int, doubts: set[int]) -> set[int]:
    tests = np.array(sorted(doubts), np.int64)
    words, places = np.full(len(tests), word), np.zeros(len(tests), np.int64)
    return {*tests[index.held(found, words, tests, places)].tolist()}


def found(index: PatternIndex, words: Sequence[str]) -> list[set[int]]:
    """The tests that hold for each word, those in doubt when they have been asked about."""
    batch = EventBatch(len(words), {"a": [Strings(None, None, Words.of(words))]})
    texts = batch_texts(batch, {"a": index.place_of("a")}, len(index.attributes))
    searched = index.search(texts)
    assert searched.first.dtype == np.int64
    assert searched.tests.dtype == np.int32
    assert len(searched.first) == texts.word_first[-1] + 1
    everywhere = index.everywhere(index.place_of("a")).tolist()
    answers = []
    for number in texts.numbers.tolist():
        begin, end = searched.first[number : number + 2].tolist()
        tests = everywhere + searched.tests[begin:end].tolist()
        doubts = {~test for test in tests if test < 0}
        answers.append({t for t in tests if t >= 0} | asked_about(index, searched, number, doubts))
    return answers


@settings(max_examples=300, deadline=None)
@given(st.lists(patterns(), max_size=12), st.lists(TEXT | LONG | some.strings(), max_size=6))
@example(contains("", "\0", "\0\0", "a"), ["", "\0", "\0\0\0", "a\0", "\0a"])
@example(contains("é", "è"), ["é", "è", "Ã©", "éè"])
@example(matches("(?i)k", "(?i)s"), ["\u212a", "K", "\u017f"])
@example([Constraint("a", Operator.EQ, ""), *matches(""), *likes("", "_")], ["", "_", "__"])
def test_agrees_with_the_constraints(constraints: list[Constraint], words: list[str]) -> None:
    assert_agrees(constraints, words)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_parts_of_the_words_are_found(data: st.DataObject) -> None:
    """Needles cut from the words themselves, so that most occur, in all lengths."""
    words = data.draw(st.lists(st.text(LETTERS, min_size=1, max_size=200), min_size=1, max_size=3))
    constraints = []
    for _ in range(data.draw(st.integers(1, 15))):
        word = data.draw(st.sampled_from(words))
        begin, middle, then, end = sorted(data.draw(st.tuples(*[st.integers(0, len(word))] * 4)))
        operator = data.draw(st.sampled_from([*LITERAL, Operator.LIKE]))
        operand: Any = word[begin:end]
        if operator is Operator.LIKE:
            pieces = [word[begin:middle], word[then:end]]
            quoted = [p.replace("!", "!!").replace("%", "!%").replace("_", "!_") for p in pieces]
            edge = data.draw(st.sampled_from(["%", ""]))
            operand = LikePattern(f"{edge}{'%'.join(quoted)}{edge}", "!")
        constraints.append(Constraint("a", operator, operand))
    assert_agrees(constraints, words)


def test_no_patterns_and_no_words() -> None:
    assert_agrees([], ["a", ""])
    assert_agrees(contains("a", ""), [])
    assert_agrees([], [])


def test_a_test_may_be_met_in_several_ways() -> None:
    ways = [*contains("ab", "b"), *matches("a+c", "[0-9]$"), *likes("x_z"), *matches("a+c")]
    other = [*matches("a+c"), *likes("x_z", "q%")]
    index = PatternIndex([*ways, *other], [7] * len(ways) + [3] * len(other))
    words = ["ab", "aac", "c5", "xyz", "q", "d", "aacb9"]
    assert found(index, words) == [{7}, {3, 7}, {7}, {3, 7}, {3}, set(), {3, 7}]
    room = index.room()
    for word, right in zip(words, found(index, words), strict=True):
        assert {*one_by_one(index, word, room)} == right


def test_many_regular_expressions_of_one_word_are_tried_together() -> None:
    regexes = [f"x[0-9]*y{{{n}}}z" for n in range(1, 30)]
    words = ["x1yyz", "xyyyyz x4yz", "x" * 50 + "yyyz", "z", "xyz" * 3]
    index = assert_agrees(matches(*regexes), words)
    assert [made is None for made, _ in index._questions._sets_of(0)._sets] == [False]


def test_equal_patterns_all_hold() -> None:
    equal = [*contains("ab", "b", "ab"), *likes("%b", "%b"), *matches("b", "b"), *contains("ab")]
    assert_agrees(equal, ["ab", "b", "c", "xaby"])


def test_paths_of_literals_that_begin_one_another() -> None:
    nested = [word[:n] for word in ("https://a/b/c", "https://a/d", "http:") for n in range(14)]
    assert_agrees(contains(*nested), ["https://a/b/c", "https://a/d", "xhttps://a", "http", "h"])


def test_neighbours_in_order_do_not_hide_one_another() -> None:
    """Many literals in one bucket, the word between, before and after them."""
    rng = random.Random(5)
    needles = {"12345678" + "".join(rng.choices("abc", k=rng.randint(0, 5))) for _ in range(300)}
    words = ["12345678" + "".join(rng.choices("abcd", k=rng.randint(0, 7))) for _ in range(200)]
    assert_agrees(contains(*sorted(needles)), [*words, "1234567", "x12345678", "12345678\0"])


@pytest.mark.parametrize("size", [LONGEST - 1, LONGEST, LONGEST + 1, 1_000])
def test_long_needles(size: int) -> None:
    needle = "ab" * (size // 2) + "c" * (size % 2)
    constraints = [
        *contains(needle, needle + "x", "x" + needle, needle[1:], "é" * size),
        *likes(f"%{needle}%", f"{needle}%", f"%{needle}", f"_{needle}%", f"%{needle}%a"),
        Constraint("a", Operator.PREFIX, needle),
        Constraint("a", Operator.SUFFIX, needle),
        Constraint("a", Operator.EQ, needle),
    ]
    words = [needle, needle[:-1], "x" + needle, needle + "x", needle[1:] + "xa", "é" * size]
    assert_agrees(constraints, [*words, needle + "a", "é" * (size - 1)])


def test_a_very_long_piece_takes_no_longer_than_the_word() -> None:
    piece = "a" * 100_000
    constraints = [*contains(piece + "b"), Constraint("a", Operator.SUFFIX, piece)]
    like = trusted_constraint("a", Operator.LIKE, LikePattern(f"%{piece}%b%"), Kind.STRING)
    index = PatternIndex([*constraints, like])
    assert found(index, [piece * 3, piece + "b", "a" + piece]) == [{1}, {0, 2}, {1}]


def test_a_long_word_is_searched_to_its_end() -> None:
    word = "a" * 100_000 + "b"
    needles = ["a" * n for n in (1, 2, 7, 8, 9, 63, 64, 65, 500)]
    others = ["ab", "aaaab", "a" * 64 + "b", "a" * 500 + "b", "ba", "a" * 64 + "c"]
    assert_agrees(contains(*needles, *others), [word, word[:-1]])


def test_pieces_do_not_overlap() -> None:
    constraints = likes("ab%ba", "aba%", "%aba", "%ab%ba%", "aba", "a%a", "%a%a%a", "ab%", "%a%ab")
    assert_agrees(constraints, ["aba", "abba", "abaa", "aab", "ab", "a", "aa", "aaa", "xabyba", ""])


def test_results_beyond_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_index, "_LEAST_ROOM", 4)
    rng = random.Random(3)
    words = ["".join(rng.choices("abc", k=rng.randint(0, 30))) for _ in range(60)]
    needles = ["".join(rng.choices("abc", k=rng.randint(1, 4))) for _ in range(40)]
    constraints = [*contains(*needles, ""), *likes("%a%bc%", "a_%"), *matches("a+b", "[bc]{3}")]
    assert_agrees(constraints, [*words, "x" * 80])


def test_many_regular_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex_sets, "_SET", 7)
    kinds = ["^/api/v[0-9]+/u{}/[0-9]+$", "e{}|fail(ed|ure){}", "^[0-9]{{{}}}$", "(?i)q{}é", "x{}"]
    regexes = [
        kinds[n % 5].replace("{}", str(n)).replace("{{", "{").replace("}}", "}") for n in range(400)
    ]
    words = ["/api/v2/u15/7", "/api/v2/u15/", "failure16", "failed1", "e161", "1" * 22, "Q3É"]
    assert_agrees(matches(*regexes), [*words, "x4 x9 x14 x399", "", "x" * 1000])


@pytest.mark.parametrize(
    ("regex", "choices"),
    [
        ("^/api/v[0-9]+/users/[0-9]+$", [("/api/v",), ("/users/",)]),
        ("error|fail(ed|ure)", [("error", "fail")]),
        ("fail(ed|ure)", [("fail",), ("ed", "ure")]),
        ("log(in|out)s", [("logins", "logouts")]),
        ("log(in|out)+s", [("login", "logout"), ("s",)]),
        ("log(in|out)?s", [("log",), ("s",)]),
        (
            "(a|b)(c|d)(e|f)(g|h)(i|j)k",
            [(*map("".join, product("ab", "cd", "ef", "gh")),), ("ik", "jk")],
        ),
        (" [0-7]{7,13}", [tuple(f" {n}" for n in range(8))]),
        ("-[WR]\\s?x", [("-W", "-R"), ("x",)]),
        ("a[b\\]-]c", [("abc", "a]c", "a-c")]),
        ("a[^b]c[[:digit:]]d[\\w]e", [("a",), ("c",), ("d",), ("e",)]),
        ("a[k-m\\d-]", [tuple("a" + each for each in "klm0123456789-")]),
        ("a[k-o\\d\\s]b", [("a",), ("b",)]),
        ("a[b-d]", [("ab", "ac", "ad")]),
        ("a[b-\\]]c", [("a",), ("c",)]),
        ("[0-9][.]", [tuple(f"{n}." for n in range(10))]),
        ("[0-9]+", []),
        ("\\d\\s(,|;)?", []),
        ("(?i)-[WR]x", [("-",), ("x", "X")]),
        ("ab*c", [("a",), ("c",)]),
        ("ab+c", [("ab",), ("c",)]),
        pytest.param(f"a{{{'0' * 5000}}}b", [("b",)], id="more zeros than int() takes"),
        pytest.param(f"a{{{'9' * 5000}}}b", [("a",), ("b",)], id="more digits than int() takes"),
        ("ab{0,2}c{2}d{,3}", [("a",), ("c",), ("d{,3}",)]),
        ("a(bc)?d", [("a",), ("d",)]),
        ("a(?:bc)+?d", [("abc",), ("d",)]),
        ("a(?P<name>bc|d)e", [("abce", "ade")]),
        ("(?s)a\\.b.c", [("a.b",), ("c",)]),
        ("x[]a]y[^]b]z[[:alpha:]\\]]w", [("x]y", "xay"), ("z",), ("w",)]),
        ("\\bab\\b\\d+", [tuple(f"ab{n}" for n in range(10))]),
        ("ab|", []),
        ("ab|.", []),
        ("(?i)ab", [("ab", "aB", "Ab", "AB")]),
        ("(?si)a&&.k", [("a&&", "A&&"), ("k", "K", "\u212a")]),
        ("(?i)éa|b", [("b", "B", "a", "A")]),
        ("(?i)é", []),
        ("(?i)sé /v", [(" /v", " /V")]),
        ("a\\n\\tb", [("a\n\tb",)]),
        ("ab(?s)*", []),  # RE2 repeats the b
        ("a(?i:b)c", []),
        ("\\Qa|b\\E", []),
        ("a\\x62", []),
        ("a\\pLb", []),
        ("|".join(f"branch{n}" for n in range(17)), []),
        ("(" * 101 + "a" + ")" * 101, []),
    ],
)
def test_what_a_regular_expression_requires(regex: str, choices: list[tuple[str, ...]]) -> None:
    assert required_literals(regex) == choices


ATOMS = ["a", "b", "ab", "é", "日", ".", "[ab]", "[^a]", "[]a]", "[[:alpha:]é]", "[a\\]]", "^", "$"]
ATOMS += [
    "\\.",
    "\\b",
    "\\w",
    "\\n",
    "\\x61",
    "\\pL",
    "\\Qa.\\E",
    "{",
    "}",
    "]",
    "{,2}",
    "(?s)",
    "(?i)",
]
REPEATS = ["", "", "*", "+", "?", "+?", "??", "{2}", "{0}", "{0,1}", "{1,}", "{1,2}?"]
GENERATED = st.recursive(
    st.lists(
        st.tuples(st.sampled_from(ATOMS), st.sampled_from(REPEATS)).map("".join), max_size=4
    ).map("".join),
    lambda inner: st.builds(
        lambda opening, branches, repeat: f"{opening}{'|'.join(branches)}){repeat}",
        st.sampled_from(["(", "(?:", "(?P<n>", "(?i:", "a("]),
        st.lists(inner, min_size=1, max_size=3),
        st.sampled_from(REPEATS),
    ),
    max_leaves=5,
)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(GENERATED, min_size=1, max_size=6),
    st.lists(st.text("aAbBéÉ日.{},2]\n", max_size=8), min_size=1, max_size=8),
)
@example(["a(?s)*", "(?s)a+", "ab(?m)?"], ["", "a"])
def test_generated_regular_expressions(regexes: list[str], words: list[str]) -> None:
    constraints = []
    for regex in regexes:
        with contextlib.suppress(InvalidConstraintError):
            constraints += matches(regex)
    assert_agrees(constraints, words)


class Exhausted:
    """A set of RE2 that is out of memory: it finds nothing, not even the sentinel."""

    def Match(self, text: bytes) -> None:  # noqa: N802
        return None


def test_a_set_that_runs_out_of_memory_loses_nothing() -> None:
    regexes = ["ab+c", "[0-9]+", "^.{3}$", "(?i)HAY", "^.*$", "[a-z] ", "[a-z]$"]
    index = PatternIndex([*matches(*regexes), *contains("b")])
    words = ["abbc", "needle in hay", "123", ""]
    expected = found(index, words)
    sets = index._questions._sets_of(0)
    sets._sets = [(Exhausted(), numbers) for _, numbers in sets._sets]
    assert sets._sets
    for _ in range(2):  # a set that failed is not tried again
        assert found(index, words) == expected
    assert [made for made, _ in sets._sets] == [None]


def test_expressions_that_share_much_and_have_many_states() -> None:
    """With a common letter ``re2.Filter`` loses some of these; without, a set has many states."""
    rng = random.Random(2)
    kinds = ["[ab]*{}[ab]{{{}}}[01]", "[ab]*[{}][ab]{{{}}}[01]"]
    regexes = [kind.format(c, n) for kind in kinds for c in "ab" for n in range(5, 35)]
    words = ["".join(rng.choices("ab", k=500)) + "0" for _ in range(3)]
    assert_agrees(matches(*regexes), [*words, *(word[:40] + "1" for word in words)])


def test_regular_expressions_too_large_for_a_set() -> None:
    regexes = [f"[a-z]{{{n}}}[à-ÿ日-本]{{{n}}}" for n in range(200, 260)]
    index = assert_agrees(matches(*regexes), ["z" * 400, "z" * 230 + "é" * 230])
    assert [made for made, _ in index._questions._sets_of(0)._sets] == [None]


def test_many_needles_and_memory() -> None:
    rng = random.Random(11)
    letters = "abcdefghijklmnopqrstuvwxyz/"
    needles = ["".join(rng.choices(letters, k=rng.randint(2, 12))) for _ in range(2_000)]
    words = ["".join(rng.choices(needles, k=8)) for _ in range(20)]
    index = assert_agrees(contains(*needles), words)
    assert sum(map(len, needles)) < index.nbytes() < 200 * len(needles)
    assert PatternIndex(contains(*needles[:200])).nbytes() < index.nbytes() / 5
