"""What it means to be a dialect, as tests.

Subclass it in a test module, name your dialect, give some texts, and pytest runs the lot::

    class TestSearch(DialectConformance):
        dialect = "search"
        texts = ("status:open -label:spam", "priority:>3")

A good choice of texts has everything that the language has. Events are made of what the texts
compare with; those of your own go under ``events``, as attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predicast.derived import inputs_of
from predicast.engine import Engine
from predicast.errors import LanguageError, LimitError, NotExpressibleError, ParseError
from predicast.language import dialect_named
from predicast.language.derived_names import expression_of, is_derived
from predicast.language.dialect_registry import stated_in
from predicast.model import Event, Subscription
from predicast.testing.strategies import events_near, subscriptions

_EXPECTED = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.differing_executors,  # each subclass runs the same tests
]


class DialectConformance:
    """Tests that every dialect passes; ``dialect`` is its name, and ``texts`` are valid."""

    dialect: ClassVar[str]
    texts: ClassVar[Sequence[str]]
    events: ClassVar[Sequence[Mapping[str, Any]]] = ()

    def test_it_is_found_by_its_name(self) -> None:
        assert dialect_named(self.dialect).name == self.dialect.partition(":")[0]
        assert self.texts, "there are no texts to try"

    def test_a_text_always_says_the_same(self) -> None:
        dialect = dialect_named(self.dialect)
        for text in self.texts:
            engine = Engine()
            engine.subscribe(dialect.parse(text), id="parsed")
            engine.subscribe(text, id="read", dialect=self.dialect)
            parsed, read = engine.get("parsed"), engine.get("read")
            assert parsed.subscription == read.subscription, text
            assert isinstance(read.about, Mapping), text
            assert dialect.about(text) == read.about, text

    @settings(deadline=None, suppress_health_check=_EXPECTED)
    @given(data=st.data())
    def test_matches_and_explanations_agree(self, data: Any) -> None:
        text = data.draw(st.sampled_from(self.texts), "text")
        engine = Engine()
        engine.subscribe(text, id="a", dialect=self.dialect)
        attributes = data.draw(self._events(engine.get("a").subscription), "event")
        matched = engine.match(attributes) == ["a"]
        brute_force = Engine(matcher="brute-force")
        brute_force.subscribe(text, id="a", dialect=self.dialect)
        assert (brute_force.match(attributes) == ["a"]) is matched
        explanation = engine.explain("a", attributes)
        assert explanation.matched is matched
        assert (explanation.outcome.held is True) is matched, str(explanation)

    @settings(deadline=None, suppress_health_check=_EXPECTED)
    @given(data=st.data())
    def test_what_it_writes_means_the_same(self, data: Any) -> None:
        own = st.sampled_from(self.texts).map(lambda text: stated_in(self.dialect, text))
        wanted = data.draw(own.map(lambda stated: stated.subscription()) | subscriptions())
        try:
            text = dialect_named(self.dialect).to_text(wanted)
        except NotExpressibleError as refusal:
            assert refusal.dialect is not None, "a refusal names the dialect"
            return
        read = stated_in(self.dialect, text).subscription()
        engine = Engine()
        engine.subscribe_many([("wanted", wanted), ("read", read)])
        attributes = data.draw(self._events(wanted), "event")
        assert len(engine.match(attributes)) in {0, 2}, text

    @settings(deadline=None, suppress_health_check=_EXPECTED)
    @given(data=st.data())
    def test_what_is_no_text_is_refused_with_its_place(self, data: Any) -> None:
        text = data.draw(self._damaged() | st.text(max_size=60), "text")
        try:
            stated_in(self.dialect, text)
        except ParseError as refusal:
            if refusal.line is not None:
                assert 1 <= refusal.line <= text.count("\n") + 1
            if refusal.column is not None:
                assert 1 <= refusal.column <= len(text) + 1
        except (LanguageError, LimitError):
            pass

    def _damaged(self) -> st.SearchStrategy[str]:
        return st.sampled_from(self.texts).flatmap(_damaged)

    def _events(self, wanted: Subscription) -> st.SearchStrategy[dict[str, Any]]:
        near = events_near(wanted, regions=False).map(_with_inputs)
        return near | st.sampled_from([*map(dict, self.events)]) if self.events else near


@st.composite
def _damaged(draw: st.DrawFn, text: str) -> str:
    """A text with something gone, or something else, in the middle."""
    begin = draw(st.integers(0, len(text)))
    end = draw(st.integers(begin, min(begin + 8, len(text))))
    other = draw(st.sampled_from(["", "", " ", "\n", "'", '"', "(", ")", "{", "]", ":", "-"]))
    return text[:begin] + other + text[end:]


def _with_inputs(event: Event) -> dict[str, Any]:
    """An event near a subscription, whose derived attributes were given values: their inputs."""
    attributes: dict[str, Any] = {}
    for name, value in event.items():
        if is_derived(name):
            attributes |= dict.fromkeys(inputs_of(expression_of(name)), value)
        else:
            attributes[name] = value
    return attributes
