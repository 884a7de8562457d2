"""Loading real rules: seconds and memory, measured in a process of its own.

``python -m bench.real.loading COUNT GIVEN_AS SEED`` is that process. Past the size of the corpus
there are more of each rule, each with one of its strings changed, as when many users have taken a
rule and adapted it.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import msgspec

from bench.measuring.memory import peak_bytes, resident_bytes
from bench.measuring.timing import timed
from bench.real.corpus import read_corpus, with_text
from bench.real.results import LoadingResult
from bench.real.where_text import expression_text
from predicast import Engine
from predicast.language import Readable
from predicast.model import And, Constraint, Expression, Leaf, Not, Or

GIVEN_AS: Final = ("objects", "text")


def measure_loading(count: int, given_as: str, *, seed: int = 0) -> LoadingResult:
    """The first so many rules, or so many made of them."""
    command = [sys.executable, "-m", "bench.real.loading", str(count), given_as, str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the measuring process failed:\n{done.stderr}")
    return msgspec.json.decode(done.stdout, type=LoadingResult)


def probe(count: int, given_as: str, seed: int) -> LoadingResult:
    """What the measuring process does."""
    engine = Engine()
    engine.warm_up()
    corpus = read_corpus()
    event = with_text(corpus.firings[0].event)
    before = resident_bytes()
    rules = corpus.rules[:count]
    read_s, expressions = timed(lambda: [rule.expression() for rule in rules])
    given = list(_given(expressions, count, given_as, random.Random(seed)))
    load_s, _ = timed(partial(_load, engine, given, event))
    del expressions, given
    return LoadingResult(
        given_as=given_as,
        subscriptions=len(engine),
        read_s=read_s,
        load_s=load_s,
        growth_bytes=resident_bytes() - before,
        peak_bytes=peak_bytes(),
    )


def _given(
    expressions: Sequence[Expression], count: int, given_as: str, chance: random.Random
) -> Iterator[tuple[str, Readable]]:
    """The expressions, and then others made of them, with ids."""
    for number in range(count):
        expression = expressions[number % len(expressions)]
        if number >= len(expressions):
            expression = adapted(expression, chance)
        written = expression if given_as == "objects" else expression_text(expression)
        yield f"rule{number}", written


def adapted(expression: Expression, chance: random.Random) -> Expression:
    """The expression with one of its strings made longer."""
    strings = list(_strings(expression))
    if not strings:
        return expression
    return _replaced(expression, chance.choice(strings), f"{chance.randrange(16**5):05x}")


def _strings(expression: Expression) -> Iterator[str]:
    match expression:
        case Leaf(Constraint(operand=str(text))):
            yield text
        case Not(part):
            yield from _strings(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _strings(part)


def _replaced(expression: Expression, chosen: str, ending: str) -> Expression:
    match expression:
        case Leaf(test):
            return (
                Leaf(replace(test, operand=chosen + ending))
                if test.operand == chosen
                else expression
            )
        case Not(part):
            return Not(_replaced(part, chosen, ending))
        case And(parts) | Or(parts):
            return type(expression)(tuple(_replaced(part, chosen, ending) for part in parts))


def _load(engine: Engine, given: Iterable[tuple[str, Readable]], event: Mapping[str, Any]) -> None:
    """Load, and match once, since a matcher may leave its work to the first event."""
    engine.subscribe_many(given)
    engine.match(event)


if __name__ == "__main__":
    count, given_as, seed = sys.argv[1:]
    print(msgspec.json.encode(probe(int(count), given_as, int(seed))).decode())
