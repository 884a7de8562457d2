"""The broker, the library and Spark on the same input: all of them against brute force.

A run draws subscriptions (flat, of regions, lists, patterns of strings, derived attributes, with
and without parameters) and events, sends the events in every form that a broker takes, and changes
subscriptions in between, by HTTP and by a session in turns. Of each event it asks who gets it: by a
dry run over HTTP, by what a session receives, by ``Engine.match`` and, given a Spark session, by
``match`` over a frame of it.

At length: ``python -m tests.differential.everywhere --rounds 500``.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import httpx
import pyarrow as pa

from predicast import Engine
from predicast.broker import Broker
from predicast.broker.embedded import EmbeddedBackend
from predicast.broker.server import make_app
from predicast.client import Client
from predicast.language import attributes_from_json
from predicast.protocol import Adjust, Definition, Put, Remove
from tests.unit.broker.server.serving import served
from tests.unit.client.wires import Place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SYMBOLS: Final = ("IBM", "Ibm", "A%B", "a_b", "it's", "Ünder", "", "IB", "MSFT")
TAGS: Final = ("red", "rouge", "blue", "", "r%")
TYPES: Final = ("buy", "sell", "hold")
END: Final = "end"  # of what a session receives of a batch
_ARROW: Final = pa.schema(
    {
        "type": pa.string(),
        "data": pa.struct(
            {
                "price": pa.float64(),
                "qty": pa.int64(),
                "symbol": pa.string(),
                "hot": pa.bool_(),
                "tags": pa.list_(pa.string()),
                "x": pa.float64(),
                "y": pa.float64(),
            }
        ),
    }
)
_ENDS: Final = "struct<lo:double,hi:double>"
_FRAME: Final = (
    "n int, type string, data struct<price:double,qty:bigint,symbol:string,hot:boolean,"
    "tags:array<string>,x:{of},y:{of}>"
)


class Wanted(NamedTuple):
    """A subscription as text, and the values of its parameters."""

    text: str
    parameters: dict[str, Any] | None = None


class Drawing:
    """Random subscriptions and events, over few enough values that many match."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def number(self) -> float:
        return self.chance.choice(
            (self.chance.randint(-3, 12), self.chance.randint(-20, 80) / 8, 0.1, 5e-324, 1e300)
        )

    def wanted(self) -> Wanted:
        """One to three tests, joined."""
        parts = [self._test() for _ in range(self.chance.choice((1, 1, 2, 2, 3)))]
        text = parts[0]
        for each in parts[1:]:
            text = f"({text}) {self.chance.choice(('AND', 'AND', 'OR'))} ({each})"
        if self.chance.random() < 0.2:
            text = f"NOT ({text})"
        if self.chance.random() < 0.3:
            return Wanted(f"({text}) AND data.price < :limit", {"limit": self.number()})
        return Wanted(text)

    def _test(self) -> str:
        chance, n = self.chance, self.number
        low, high = sorted((chance.randint(-2, 10), chance.randint(-2, 10)))
        return chance.choice(
            (
                lambda: f"data.price {chance.choice(('<', '<=', '>', '>=', '=', '<>'))} {n()!r}",
                lambda: f"data.qty BETWEEN {low} AND {high}",
                lambda: f"data.symbol = {_quoted(chance.choice(SYMBOLS))}",
                lambda: "data.symbol IN ({})".format(
                    ", ".join(map(_quoted, chance.sample(SYMBOLS, 3)))
                ),
                lambda: f"type = {_quoted(chance.choice(TYPES))}",
                lambda: f"data.{chance.choice(('price', 'hot', 'tags', 'x'))} IS NULL",
                lambda: chance.choice(("data.hot", "data.hot = FALSE")),
                lambda: f"data.x BETWEEN {low} AND {high} AND data.y < {n()!r}",
                lambda: f"data.x < {high} AND data.y BETWEEN {low} AND {high}",
                lambda: f"array_contains(data.tags, {_quoted(chance.choice(TAGS))})",
                lambda: "exists(data.tags, e -> e LIKE 'r%')",
                lambda: "forall(data.tags, e -> length(e) > 3)",
                lambda: "data.symbol LIKE {}".format(
                    _quoted(chance.choice(("I%", "%B", "_b_", "%'%", "A\\%B", "%", "")))
                ),
                lambda: "data.symbol ILIKE 'i%m'",
                lambda: f"data.price * data.qty > {n()!r}",
                lambda: f"abs(data.price - data.qty) < {high}",
                lambda: f"length(data.symbol) = {chance.randint(0, 4)}",
                lambda: "lower(data.symbol) = 'ibm'",
                lambda: "data.price + 1 > data.qty",
            )
        )()

    def event(self, *, regions: bool) -> dict[str, Any]:
        """Attributes as JSON has them; some are left out."""
        chance = self.chance
        data: dict[str, Any] = {
            "price": self.number(),
            "qty": chance.randint(-2, 10),
            "symbol": chance.choice(SYMBOLS),
            "hot": chance.random() < 0.5,
            "tags": [chance.choice(TAGS) for _ in range(chance.randint(0, 3))],
            "x": self._place(regions=regions),
            "y": self._place(regions=regions),
        }
        kept = {name: value for name, value in data.items() if chance.random() < 0.8}
        return {"type": chance.choice(TYPES), "data": kept}

    def _place(self, *, regions: bool) -> Any:
        low, high = sorted((self.chance.randint(-2, 10), self.chance.randint(-2, 10)))
        return {"$interval": {"lo": low, "hi": high}} if regions else float(low)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# Bodies: each makes one request, or several, of a batch of events.

Requests = list[tuple[str, bytes]]


def _json_list(events: list[dict[str, Any]], name: str) -> Requests:
    return [("application/json", json.dumps(events).encode())]


def _json_each(events: list[dict[str, Any]], name: str) -> Requests:
    return [("application/json", json.dumps(each).encode()) for each in events]


def _json_lines(events: list[dict[str, Any]], name: str) -> Requests:
    return [("application/x-ndjson", "\n".join(map(json.dumps, events)).encode())]


def _arrow(events: list[dict[str, Any]], name: str) -> Requests:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, _ARROW) as writer:
        writer.write_table(pa.Table.from_pylist(events, schema=_ARROW))
    return [("application/vnd.apache.arrow.stream", sink.getvalue().to_pybytes())]


def _cloudevents(events: list[dict[str, Any]], name: str) -> Requests:
    made = [
        {"specversion": "1.0", "id": f"{name}/{n}", "source": "/run", **each}
        for n, each in enumerate(events)
    ]
    return [("application/cloudevents-batch+json", json.dumps(made).encode())]


def _cloudevent_each(events: list[dict[str, Any]], name: str) -> Requests:
    [(_, body)] = _cloudevents(events, name)
    return [
        ("application/cloudevents+json", json.dumps(each).encode()) for each in json.loads(body)
    ]


_IN_JSON: Final = (_json_list, _json_each, _json_lines)
_FORMS: Final = (*_IN_JSON, _arrow, _cloudevents, _cloudevent_each)


class Run:
    """One random history."""

    def __init__(
        self, seed: int, http: httpx.AsyncClient, client: Client, spark: SparkSession | None
    ) -> None:
        self.drawing = Drawing(seed)
        self.decisions = 0
        self._seed = seed
        self._http = http
        self._client = client
        self._spark = spark
        self._held: dict[str, Wanted] = {}
        self._library = Engine()
        self._oracle = Engine(matcher="brute-force")
        self._batches = 0
        self._named = 0

    async def rounds(self, count: int, events: int = 12) -> None:
        """Change subscriptions, then ask of a batch of events who gets them; so many times."""
        await self._client.apply([Put(Definition(END, f"type = '{END}'"))])
        for _ in range(count):
            await self._change()
            regions = self.drawing.chance.random() < 0.3
            batch = [self.drawing.event(regions=regions) for _ in range(events)]
            form = self.drawing.chance.choice(_IN_JSON if regions else _FORMS)
            await self._compare(batch, form, regions=regions)

    async def _change(self) -> None:
        """A window of a few operations, by HTTP or by the session."""
        chance, held = self.drawing.chance, self._held
        operations: list[Put | Adjust | Remove] = []
        touched: set[str] = set()
        for _ in range(20 if not held else chance.randint(1, 8)):
            free = sorted(held.keys() - touched)
            choice = chance.random()
            if not free or choice < 0.5:
                self._named += 1
                operations.append(self._put(f"s{self._named}", replace=False))
            elif choice < 0.7:
                operations.append(self._put(chance.choice(free), replace=True))
            elif choice < 0.85 and (given := [id for id in free if held[id].parameters]):
                operations.append(Adjust(chance.choice(given), {"limit": self.drawing.number()}))
            else:
                operations.append(Remove(chance.choice(free)))
            touched.add(operations[-1].id)
        if chance.random() < 0.5:
            await self._client.apply(operations)
        else:
            body = {"operations": [_step(each) for each in operations]}
            answer = await self._http.post("/subscriptions:apply", json=body)
            assert answer.status_code == 200, answer.text
        for each in operations:
            self._follow(each)

    def _put(self, id: str, *, replace: bool) -> Put:
        wanted = self.drawing.wanted()
        return Put(Definition(id, wanted.text, parameters=wanted.parameters), replace)

    def _follow(self, step: Put | Adjust | Remove) -> None:
        """Do the same to the engines."""
        for engine in (self._library, self._oracle):
            if isinstance(step, Remove):
                engine.unsubscribe(step.id)
            elif isinstance(step, Adjust):
                engine.change(step.id, parameters=step.parameters)
            else:
                said = step.definition
                if said.id in engine:
                    engine.unsubscribe(said.id)
                engine.subscribe(said.expression, id=said.id, parameters=said.parameters)
        if isinstance(step, Remove):
            del self._held[step.id]
        elif isinstance(step, Put):
            self._held[step.definition.id] = Wanted(
                step.definition.expression, step.definition.parameters
            )

    async def _compare(
        self,
        batch: list[dict[str, Any]],
        form: Callable[[list[dict[str, Any]], str], Requests],
        *,
        regions: bool,
    ) -> None:
        self._batches += 1
        if self._batches % 2:  # so that what is compiled is asked, too, however quick the run is
            self._library._store.matcher.settle()
        name = f"batch-{self._batches}"
        read = [attributes_from_json(json.dumps(each)) for each in batch]
        expected = [self._oracle.match(each) for each in read]
        self.decisions += len(batch) * len(self._held)
        answers = {
            "Engine.match": [self._library.match(each) for each in read],
            "a dry run": await self._tried(form(batch, f"{name}-dry")),
            "a session": await self._received(form(batch, name), len(batch)),
        }
        if self._spark is not None:
            answers["Spark"] = self._by_spark(self._spark, batch, regions=regions)
        for who, answer in answers.items():
            for event, right, given in zip(batch, expected, answer, strict=True):
                wrong = {id: self._held[id] for id in set(right) ^ set(given)}
                assert right == given, f"seed {self._seed}, {form.__name__}, {who}: {event} {wrong}"

    async def _tried(self, requests: Requests) -> list[list[str]]:
        found: list[list[str]] = []
        most = max(1, len(self._held))
        for media, body in requests:
            answer = await self._http.post(
                f"/events?dry_run=1&most={most}", content=body, headers={"Content-Type": media}
            )
            assert answer.status_code == 200, answer.text
            found += [
                sorted(each["id"] for each in event["recipients"])
                for event in answer.json()["events"]
            ]
        return found

    async def _received(self, requests: Requests, count: int) -> list[list[str]]:
        """What one session receives of all subscriptions, up to an event behind the batch."""
        stream = await self._client.consume([*self._held, END])
        positions: list[int] = []
        end = [("application/json", json.dumps({"type": END}).encode())]
        for number, (media, body) in enumerate([*requests, *end]):
            headers = {"Content-Type": media, "Predicast-Event-Id": f"{self._batches}-{number}"}
            answer = await self._http.post("/events", content=body, headers=headers)
            assert answer.status_code == 200, answer.text
            positions += [each["position"] for each in answer.json()["events"]]
        assert len(positions) == count + 1
        got: dict[int, list[str]] = {}
        async for each in stream:
            got.setdefault(each.position, []).extend(each.subscriptions)
            if each.position == positions[-1]:
                break
        await stream.take(0)  # which acknowledges the last
        await stream.close()
        return [sorted(got.get(position, ())) for position in positions[:-1]]

    def _by_spark(
        self, spark: SparkSession, batch: list[dict[str, Any]], *, regions: bool
    ) -> list[list[str]]:
        from predicast import spark as ps

        rows = [(n, each["type"], _row(each["data"])) for n, each in enumerate(batch)]
        frame = spark.createDataFrame(rows, _FRAME.replace("{of}", _ENDS if regions else "double"))
        found: list[list[str]] = [[] for _ in batch]
        for row in ps.match(frame, self._library, event_id="n", output="pairs").collect():
            found[row.n].append(row.subscription)
        return [sorted(each) for each in found]


def _row(data: dict[str, Any]) -> tuple[Any, ...]:
    price = data.get("price")
    return (
        None if price is None else float(price),
        *(data.get(name) for name in ("qty", "symbol", "hot", "tags")),
        *(_ends(data.get(name)) for name in ("x", "y")),
    )


def _ends(place: Any) -> Any:
    if isinstance(place, dict):
        ends = place["$interval"]
        return float(ends["lo"]), float(ends["hi"])
    return place


def _step(step: Put | Adjust | Remove) -> dict[str, Any]:
    if isinstance(step, Remove):
        return {"remove": step.id}
    if isinstance(step, Adjust):
        return {"adjust": step.id, "parameters": dict(step.parameters)}
    said = step.definition
    put = {"id": said.id, "where": said.expression}
    parameters = {} if said.parameters is None else {"parameters": said.parameters}
    return {"put": put | parameters, "replace": step.replace}


def run(folder: Path, seed: int, rounds: int, spark: SparkSession | None = None) -> int:
    """How many decisions were the same everywhere; raises at the first that was not."""

    async def whole() -> int:
        broker = Broker(EmbeddedBackend(folder))
        async with served(make_app(broker)) as http:
            there = Place(broker)
            async with there.client() as client:
                one = Run(seed, http, client, spark)
                await one.rounds(rounds)
            there.cut()
            await asyncio.gather(*there.serving)
            return one.decisions

    return asyncio.run(whole())


def main(arguments: Iterable[str]) -> None:
    options = dict(zip(*[iter(arguments)] * 2, strict=True))
    rounds, seed = int(options.get("--rounds", "100")), int(options.get("--seed", "1"))
    done = 0
    while rounds > 0:
        with tempfile.TemporaryDirectory() as folder:
            done += run(Path(folder), seed, min(rounds, 50))
        sys.stdout.write(f"seed {seed}: {done:,} decisions, all the same\n")
        sys.stdout.flush()
        rounds, seed = rounds - 50, seed + 1


if __name__ == "__main__":
    main(sys.argv[1:])
