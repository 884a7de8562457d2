"""Sources: a dictionary of texts that keeps them side by side."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from predicast.engine.sources import Sources

KEYS = st.integers(0, 8)


def test_texts_of_the_past_take_bounded_room() -> None:
    sources = Sources()
    sources.set(0, "kept")
    for number in range(20_000):
        sources.set(number % 7 + 1, f"x < {number} AND y = 'some text of some length'")
        assert sources.nbytes() < 200_000
    assert sources.get(0) == "kept"
    assert sources.get(3) == "x < 19994 AND y = 'some text of some length'"


class SourcesAsADictionary(RuleBasedStateMachine):
    """Whatever happens to them, sources hold what a dictionary would."""

    def __init__(self) -> None:
        super().__init__()
        self.sources = Sources()
        self.right: dict[int, str] = {}
        self.dialects: dict[int, str] = {}

    @rule(
        key=KEYS,
        text=st.text(min_size=1).filter(lambda text: text.isprintable()),
        dialect=st.sampled_from([None, None, "a", "b:c"]),
    )
    def set(self, key: int, text: str, dialect: str | None) -> None:
        self.sources.set(key, text)
        self.right[key] = text
        self.dialects.pop(key, None)
        if dialect is not None:
            self.sources.set_dialect(key, dialect)
            self.dialects[key] = dialect

    @rule(key=KEYS)
    def forget(self, key: int) -> None:
        self.sources.set(key, None)
        self.right.pop(key, None)
        self.dialects.pop(key, None)

    @rule()
    def go_through_a_file(self) -> None:
        self.sources = Sources.restored(*self.sources.arrays(), self.sources.dialects())

    @rule()
    def copy(self) -> None:
        before = self.sources
        self.sources = before.copy()
        before.set(0, "of the original alone")

    @invariant()
    def holds_what_it_should(self) -> None:
        keys, texts = self.sources.arrays()
        assert dict(zip(keys.tolist(), texts.to_pylist(), strict=True)) == self.right
        assert keys.tolist() == sorted(self.right)
        assert self.sources.dialects() == self.dialects

    def teardown(self) -> None:
        assert [self.sources.get(key) for key in range(10)] == [*map(self.right.get, range(10))]


TestSourcesAsADictionary = SourcesAsADictionary.TestCase
TestSourcesAsADictionary.settings = settings(max_examples=60, deadline=None)
